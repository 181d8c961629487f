// Texts with a class each: from a CSV or TSV file, or from folders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "data/sets/labelled_rows.h"
#include "data/sets/source.h"
#include "data/sets/target_columns.h"
#include "data/text/text_units.h"

namespace trainyard {

struct LabelledTexts {
  std::vector<std::string> texts;
  std::vector<std::int32_t> labels;  // 0 or 1
};

/// A table of lines divided by tabs, whose first line names the columns; `label` (0 or 1) and
/// `text` are read. In a text \\, \t, \n and \r stand for a backslash, a tab and line ends. Throws
/// Error{data} with the line: a text that is not UTF-8, another number of cells, a label that is
/// none, another escape, a text of more than 1 MiB; for a table without texts.
[[nodiscard]] LabelledTexts parse_text_table(std::string_view table, const std::string& name);

/// Texts of a file. Throws Error{data}, also for one of more than 1 GiB.
[[nodiscard]] LabelledTexts read_text_table(const fs::path& file);

/// The files of folder/pos (1), then of folder/neg (0), each in the order of their names' bytes.
/// Throws Error{data}: a folder that is missing or empty, a file that is not UTF-8, has a zero
/// byte, or has more than 1 MiB.
[[nodiscard]] LabelledTexts read_text_folders(const fs::path& folder);

/// What the columns of a file of texts are, by their names.
struct TextColumns {
  std::string text, label;  // label "": rows have none
  TargetColumns targets;
};
void declare(config::Fields& fields, TextColumns& columns);

struct TextsOptions : SourceOptions, RowsOptions, LabelOptions {
  static constexpr std::string_view kName = "texts";
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
[[nodiscard]] DatasetPtr open_texts(const TextsOptions& options, const Opening& opening = {},
                                    const std::optional<RowsPart>& part = {});

}  // namespace trainyard
