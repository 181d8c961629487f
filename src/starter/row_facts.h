// What a starter is to know of a file of rows: which column is learned, and what the others are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <variant>

#include "data/sets/table.h"
#include "data/text/texts.h"
#include "starter/column_facts.h"

namespace trainyard {

/// A file of rows, as its source reads it.
struct RowFacts {
  std::variant<TableOptions, TextsOptions> source;
  std::int64_t samples = 0;   // of the training part
  std::int64_t outputs = 0;   // of the network: classes, numbers or words
  std::int64_t features = 0;  // of a table
  Answer answer = {};
};

/// Looks at a CSV or TSV file whose first line names its columns. What is learned is in
/// named_label(), unless that is `name`, else in the last column; see answer_in(). A column of
/// phrases that mostly differ makes it `texts`. Of a table, columns of numbers are numeric and
/// those of a few words categorical; numbers of rows and words that differ from row to row are
/// ignored, and numbers may be missing if some are. Throws Error{data} as read_rows(), for a first
/// line of values, for classes that are too many, for a column with one value alone, and if no
/// column tells anything; and as the source.
[[nodiscard]] RowFacts look_at_rows(const std::filesystem::path& file);

}  // namespace trainyard
