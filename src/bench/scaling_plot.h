// The plot of `train bench --scaling`.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "bench/scaling_report.h"

namespace trainyard {

/// A gnuplot script that plots throughput next to N times the throughput of one rank, and the parts
/// of the time of a step, to the file name of `output`, .png or .svg, preceded by the variable
/// `prefix` if that is set. It contains its data, and can be run by itself next to the plot.
[[nodiscard]] std::string scaling_script(const ScalingSubject& subject,
                                         std::span<const ScalingRow> rows,
                                         const std::filesystem::path& output);

}  // namespace trainyard
