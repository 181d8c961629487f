#include "data/sets/separated_rows.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "config/diagnostics.h"

namespace trainyard {

namespace {

/// Splits a text into rows of cells.
class RowReader {
 public:
  RowReader(std::string_view text, char separator, bool quotes, const std::string& name)
      : text_(text), separator_(separator), quotes_(quotes), name_(name) {}

  std::vector<SeparatedRow> read() {
    std::vector<SeparatedRow> rows;
    while (at_ < text_.size()) {
      SeparatedRow row = read_row();
      if (row.cells.size() > 1 || !row.cells.front().empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  /// Up to the end of its line, which is taken too.
  SeparatedRow read_row() {
    SeparatedRow row{.line = line_};
    do {
      row.cells.push_back(quotes_ && peek() == '"' ? quoted_cell() : plain_cell());
    } while (take(separator_));
    take('\r');
    if (!take('\n') && at_ < text_.size()) {
      bad_line(name_, line_, "text follows a closing quote; write a quote in a cell as \"\"");
    }
    ++line_;
    return row;
  }

  std::string plain_cell() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && peek() != separator_ && peek() != '\n') ++at_;
    std::string_view cell = text_.substr(begin, at_ - begin);
    const bool last = at_ == text_.size() || peek() == '\n';
    if (last && cell.ends_with('\r')) cell.remove_suffix(1);
    return std::string(cell);
  }

  std::string quoted_cell() {
    const std::int64_t begin = line_;
    std::string cell;
    ++at_;
    for (;;) {
      if (at_ == text_.size()) bad_line(name_, begin, "a quote is not closed");
      const char letter = text_[at_++];
      if (letter == '"' && !take('"')) return cell;
      if (letter == '\n') ++line_;
      cell += letter;
    }
  }

  /// '\0' at the end; the text holds none.
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char letter) {
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  char separator_;
  bool quotes_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

/// Divides the only cell of each row at its last space.
void divide_at_space(std::vector<SeparatedRow>& rows, const std::string& name) {
  for (SeparatedRow& row : rows) {
    const std::string line = std::move(row.cells.front());
    const std::size_t space = line.rfind(' ');
    if (space == std::string::npos) {
      bad_line(name, row.line, "has no space, which 'separator: space' divides it at");
    }
    row.cells = {line.substr(0, space), line.substr(space + 1)};
  }
}

constexpr std::uint64_t kMostRowsBytes = std::uint64_t{1} << 30;

/// The first names of many.
std::string columns_text(const std::vector<std::string>& columns) {
  constexpr std::size_t kShown = 12;
  if (columns.size() <= kShown) return joined(columns);
  return joined(std::span(columns).first(kShown)) + ", ... (" + std::to_string(columns.size()) +
         " in all)";
}

bool has_quotes(Separator separator, std::optional<bool> quotes) {
  return quotes.value_or(separator == Separator::comma || separator == Separator::semicolon);
}

/// For a file that seems to be divided by something else; "" otherwise.
std::string separator_advice(const std::vector<std::string>& columns) {
  if (columns.size() != 1) return "";
  for (const auto& [letter, word] : {std::pair{'\t', "tab"}, {';', "semicolon"}, {',', "comma"}}) {
    if (columns[0].find(letter) == std::string::npos) continue;
    return "; its cells seem to be divided otherwise: set 'separator: " + std::string(word) + "'";
  }
  return "";
}

void require_utf8_lines(std::string_view text, const std::string& name) {
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) bad_line(name, line, "holds bytes that are not UTF-8; save it as UTF-8");
    line += text[at] == '\n';
    at += length;
  }
}

}  // namespace

void bad_line(const std::string& name, std::int64_t line, const std::string& what) {
  throw data_error("'" + name + "', line " + std::to_string(line) + ": " + what);
}

std::vector<SeparatedRow> separated_rows(std::string_view text, Separator separator,
                                         const std::string& name, std::optional<bool> quotes) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (is_utf16(text)) {
    throw data_error("'" + name + "' is UTF-16 text; save it as UTF-8");
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    std::int64_t line = 1;
    for (const char letter : text.substr(0, zero)) line += letter == '\n';
    bad_line(name, line, "holds a zero byte; a list is text");
  }
  const char divides = separator == Separator::comma       ? ','
                       : separator == Separator::semicolon ? ';'
                       : separator == Separator::tab       ? '\t'
                                                           : '\0';  // there is none
  std::vector<SeparatedRow> rows =
      RowReader(text, divides, has_quotes(separator, quotes), name).read();
  if (separator == Separator::space) divide_at_space(rows, name);
  return rows;
}

void declare_rows(config::Fields& fields, RowsOptions& options, std::string_view help) {
  fields.required("file", options.file, help);
  if (options.file.path.extension() == ".tsv") options.separator = Separator::tab;
  fields.field("separator", options.separator,
               "what divides a line's cells; tab for a file named .tsv");
  fields.field("quotes", options.quotes,
               "whether cells may be in quotes; without it those divided by commas or semicolons");
}

std::size_t NamedRows::column(const std::string& wanted, const std::string& advice) const {
  const auto found = std::ranges::find(columns, wanted);
  if (found == columns.end()) {
    const std::string divided = separator_advice(columns);
    bad_file(name, "has the columns " + columns_text(columns) + ", but none named '" + wanted +
                       "': " + advice +
                       (divided.empty() ? config::suggestion(wanted, columns) : divided));
  }
  if (std::find(found + 1, columns.end(), wanted) != columns.end()) {
    bad_file(name, "has several columns named '" + wanted + "'; give each its own name");
  }
  return static_cast<std::size_t>(found - columns.begin());
}

void NamedRows::bad_cell(const SeparatedRow& row, std::size_t column,
                         const std::string& what) const {
  bad_line(name, row.line, "column '" + columns.at(column) + "': " + what);
}

std::vector<std::int64_t> drop_rows(NamedRows& rows,
                                    const std::function<bool(const SeparatedRow&)>& lacks,
                                    const std::function<void(const std::string&)>& warn) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    if (!lacks(rows.rows[i])) kept.push_back(static_cast<std::int64_t>(i));
  }
  if (kept.empty()) bad_file(rows.name, "lacks a value in every row; 'missing: drop'");
  const std::int64_t dropped = std::ssize(rows.rows) - std::ssize(kept);
  if (dropped > 0) {
    warn("'" + rows.name + "': " + std::to_string(dropped) + " of " +
         count_text(std::ssize(rows.rows), "row") + (dropped == 1 ? " lacks" : " lack") +
         " a value and " + (dropped == 1 ? "is" : "are") + " left out ('missing: drop')");
  }
  std::erase_if(rows.rows, lacks);
  return kept;
}

void NamedRows::require_cells(const SeparatedRow& row) const {
  if (row.cells.size() == columns.size()) return;
  const bool more = row.cells.size() > columns.size();
  bad_line(name, row.line,
           "has " + count_text(std::ssize(row.cells), "cell") + ", expected " +
               std::to_string(columns.size()) + " (" + columns_text(columns) + ")" +
               (quotes && more ? "; a separator within a cell needs quotes around the cell" : ""));
}

NamedRows named_rows(std::string_view text, const RowsOptions& options, const std::string& name,
                     std::vector<std::string> columns) {
  NamedRows named{.name = name,
                  .columns = std::move(columns),
                  .rows = separated_rows(text, options.separator, name, options.quotes),
                  .quotes = has_quotes(options.separator, options.quotes)};
  if (named.columns.empty() && !named.rows.empty()) {
    for (const std::string& cell : named.rows.front().cells) {
      named.columns.emplace_back(trimmed(cell));
    }
    named.rows.erase(named.rows.begin());
    if (named.rows.empty()) {
      bad_file(name, "has a first line, which names the columns, but no rows below it");
    }
  }
  if (named.rows.empty()) bad_file(name, "is empty; expected rows of cells");
  for (const SeparatedRow& row : named.rows) {
    if (!options.ragged) named.require_cells(row);
  }
  return named;
}

NamedRows read_rows(const fs::path& file, const RowsOptions& options,
                    std::vector<std::string> columns, bool any_bytes) {
  const std::string text = read_text(file, ErrorKind::data, kMostRowsBytes);
  if (!any_bytes && !is_utf16(text)) require_utf8_lines(text, file.string());
  return named_rows(text, options, file.string(), std::move(columns));
}

}  // namespace trainyard
