// The plot of a regression: predicted against true numbers.
#pragma once

#include <filesystem>
#include <string>

#include "report/predictions_table.h"

namespace trainyard {

/// A gnuplot script that draws a point for each sample, its target along x and the output along y,
/// of at most the first four outputs in a panel each, with the line of equal numbers, below
/// `title`, to the file name of `output`, .png or .svg, preceded by the variable `prefix` if that
/// is set. Of many samples every k-th is drawn, at most 5,000. `split` has targets. It contains its
/// data.
[[nodiscard]] std::string predicted_script(const std::string& title, const PredictedSplit& split,
                                           const std::filesystem::path& output);

}  // namespace trainyard
