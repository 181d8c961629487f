// What a starter is to know of rows of text: which column has the classes, and what the others are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "data/sets/table.h"
#include "data/text/texts.h"

namespace trainyard {

/// The index of the first column, but `except`, whose name says that it has classes: label, class,
/// species, ..., in any case; empty: none has.
[[nodiscard]] std::optional<std::size_t> named_label(std::span<const std::string> columns,
                                                     std::optional<std::size_t> except = {});
/// Numbers from 0 without a gap are classes as they are; everything else is a name. Rows that are
/// too short do not count.
[[nodiscard]] ListLabels labels_in(std::span<const SeparatedRow> rows, std::size_t column);

/// A file of rows with a class each, as its source reads it.
struct RowFacts {
  std::variant<TableOptions, TextsOptions> source;
  std::int64_t samples = 0;  // of the training part
  std::int64_t classes = 0;
  std::int64_t features = 0;  // of a table
};

/// Looks at a CSV or TSV file whose first line names its columns. The classes are in named_label(),
/// unless that is `name`, else in the last column. A column of phrases that mostly differ makes it
/// `texts`. Of a table, columns of numbers are numeric and those of a few words categorical;
/// numbers of rows and words that differ from row to row are ignored, and numbers may be missing if
/// some are. Throws Error{data} as read_rows(), for a first line of values, for classes that are
/// measured numbers, or of which there is only one, and if no column tells anything; and as the
/// source.
[[nodiscard]] RowFacts look_at_rows(const std::filesystem::path& file);

}  // namespace trainyard
