// The image of a confusion matrix.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "data/images/image.h"
#include "data/sets/dataset.h"
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

// The most confident mistakes of an evaluation, as images.

/// At most `most` of the mistakes in reading order, each sample as its source gives it over its
/// label, what was predicted instead, the probability of that, and its file's name if it has one.
/// None if there are no mistakes, or samples are no images of 1 or 3 channels with a height of more
/// than 1.
[[nodiscard]] std::optional<Image> mistake_sheet(const Dataset& set,
                                                 std::span<const Mistake> mistakes,
                                                 std::span<const std::string> names,
                                                 std::size_t most = 40);

}  // namespace trainyard
