// The picture of `train bench --scaling`.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "bench/scaling.h"

namespace trainyard {

/// A gnuplot script that draws images/s beside N times the rate of one rank, and where the time of
/// a step goes, to the file name of `output`, .png or .svg, with the text of the variable `prefix`
/// before it where that is set. It holds its data, and runs by itself beside the picture.
[[nodiscard]] std::string scaling_script(const std::string& title, std::span<const ScalingRow> rows,
                                         const std::filesystem::path& output);

}  // namespace trainyard
