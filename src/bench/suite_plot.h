// The bar chart of `train bench --suite`.
#pragma once

#include <filesystem>
#include <string>

#include "bench/suite_report.h"

namespace trainyard {

/// A gnuplot script that draws a panel for each row, with a group of bars for each place: ours and
/// the published rates, to the file name of `output`, as scaling_script() does. What was not
/// measured has no bar, and its panel says so.
[[nodiscard]] std::string suite_script(const SuiteReport& report,
                                       const std::filesystem::path& output);

}  // namespace trainyard
