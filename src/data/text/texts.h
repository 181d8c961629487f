// Texts with a class each, from a CSV or TSV file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/sets/labelled_rows.h"
#include "data/sets/source.h"
#include "data/sets/target_columns.h"
#include "data/text/text_units.h"

namespace trainyard {

/// What the columns of a file of texts are, by their names.
struct TextColumns {
  std::string text, label;  // label "": rows have none
  TargetColumns targets;
};
void declare(config::Fields& fields, TextColumns& columns);

struct TextsOptions : SourceOptions, RowsOptions, LabelOptions {
  TextColumns columns;
  TextUnit unit = TextUnit::words;  // or characters
  std::int64_t vocabulary = 20000;  // tokens; 0: all of the training split
  std::int64_t length = 80;
  MissingRow missing = MissingRow::error;
};
void declare(config::Fields& fields, TextsOptions& options);

/// The tokens of a text: of its characters, or of its words as a WordIndex has them
/// (keras_words.h).
[[nodiscard]] std::vector<std::int32_t> tokens_of_row(std::string_view text,
                                                      const Vocabulary& vocabulary);

/// The texts of the rows of a file whose first line names its columns, as tokens [length], cut and
/// padded at the front, and how many of them are no padding in the field `length`. Token 0 is
/// "<pad>", 1 "<unknown>"; the most frequent units of the training split follow, ties in the order
/// of their bytes, and what remains has no text. The vocabulary is the opening's, else that of
/// these rows, of a part that of the training part. Throws Error{data} for a row without a text,
/// and a vocabulary of another unit; as read_rows() and labelled_rows().
[[nodiscard]] std::unique_ptr<Dataset> open_texts(const TextsOptions& options,
                                                  const Opening& opening = {},
                                                  const std::optional<RowsPart>& part = {});

[[nodiscard]] std::unique_ptr<DatasetSource> read_texts(config::Fields& fields);

}  // namespace trainyard
