// The picture of a confusion matrix.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "report/class_table.h"

namespace trainyard {

/// A gnuplot script that draws a row for each class of the labels and a column for each predicted
/// class, shaded by its share of the row's samples, with the counts if there are at most 20
/// classes, below `title` and the accuracy, to the file name of `output`, .png or .svg, preceded by
/// the variable `prefix` if that is set. It contains its data, and can be run by itself next to the
/// plot.
[[nodiscard]] std::string confusion_script(const std::string& title, const ConfusionMatrix& matrix,
                                           std::span<const std::string> names,
                                           const std::filesystem::path& output);

}  // namespace trainyard
