// Texts with a class each: from a table, or from folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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
[[nodiscard]] LabelledTexts read_text_table(const std::filesystem::path& file);

/// The files of folder/pos (1), then of folder/neg (0), each in the order of their names' bytes.
/// Throws Error{data}: a folder that is missing or empty, a file that is not UTF-8, has a zero
/// byte, or has more than 1 MiB.
[[nodiscard]] LabelledTexts read_text_folders(const std::filesystem::path& folder);

}  // namespace trainyard
