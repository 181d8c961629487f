#include "data/text/labelled_texts.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/sets/separated_rows.h"
#include "data/text/text_units.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostReviewBytes = 1 << 20;
constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 30;

/// Refuses a line that is too long before it is split.
void require_short_lines(std::string_view table, const std::string& name) {
  std::int64_t line = 1;
  for (std::size_t begin = 0; begin < table.size(); ++line) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    if (end - begin > kMostReviewBytes) {
      bad_line(name, line,
               "is " + std::to_string(end - begin) + " bytes long, expected at most " +
                   std::to_string(kMostReviewBytes));
    }
    begin = end + 1;
  }
}

std::string unescaped(std::string_view cell, const std::string& name, std::int64_t line) {
  constexpr std::string_view kEscapes = "\\tnr", kMeanings = "\\\t\n\r";
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\') {
      text += cell[i];
      continue;
    }
    const std::size_t escape =
        i + 1 < cell.size() ? kEscapes.find(cell[i + 1]) : std::string_view::npos;
    if (escape == std::string_view::npos) {
      bad_line(name, line,
               "has a backslash that begins none of \\\\, \\t, \\n, \\r; write a "
               "backslash as \\\\");
    }
    text += kMeanings[escape];
    ++i;
  }
  return text;
}

/// The files of a folder, by their names' bytes.
std::vector<fs::path> files_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".txt") files.push_back(entry->path());
  }
  if (failed) bad_file(folder, "cannot be read: " + failed.message());
  if (files.empty()) bad_file(folder, "has no .txt files; expected one for each text");
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.filename().string(); });
  return files;
}

}  // namespace

LabelledTexts parse_text_table(std::string_view table, const std::string& name) {
  require_short_lines(table, name);
  require_utf8(table, name, "; convert the table to UTF-8");
  const NamedRows rows = named_rows(table, {.separator = Separator::tab}, name);
  constexpr const char* kExpected = "the first line is to name the columns label and text";
  const std::size_t label = rows.column("label", kExpected), text = rows.column("text", kExpected);
  LabelledTexts read;
  for (const SeparatedRow& row : rows.rows) {
    const std::string& of_row = row.cells[label];
    if (of_row != "0" && of_row != "1") {
      bad_line(name, row.line, "label '" + shortened(of_row) + "', expected 0 or 1");
    }
    read.labels.push_back(of_row == "1" ? 1 : 0);
    read.texts.push_back(unescaped(row.cells[text], name, row.line));
  }
  return read;
}

LabelledTexts read_text_table(const fs::path& file) {
  return parse_text_table(read_text(file, ErrorKind::data, kMostTableBytes), file.string());
}

LabelledTexts read_text_folders(const fs::path& folder) {
  LabelledTexts read;
  for (const auto& [name, label] : {std::pair{"pos", 1}, std::pair{"neg", 0}}) {
    for (const fs::path& file : files_of(folder / name)) {
      read.texts.push_back(read_text(file, ErrorKind::data, kMostReviewBytes));
      require_utf8(read.texts.back(), file.string(), "; convert the file to UTF-8");
      read.labels.push_back(label);
    }
  }
  return read;
}

}  // namespace trainyard
