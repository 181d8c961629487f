#include "data/sets/separated_rows.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"

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

}  // namespace

void bad_line(const std::string& name, std::int64_t line, const std::string& what) {
  throw Error(ErrorKind::data, "'" + name + "', line " + std::to_string(line) + ": " + what);
}

std::vector<SeparatedRow> separated_rows(std::string_view text, Separator separator,
                                         const std::string& name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (is_utf16(text)) {
    throw Error(ErrorKind::data, "'" + name + "' is UTF-16 text; save it as UTF-8");
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    std::int64_t line = 1;
    for (const char letter : text.substr(0, zero)) line += letter == '\n';
    bad_line(name, line, "holds a zero byte; a list is text");
  }
  const bool quotes = separator == Separator::comma || separator == Separator::semicolon;
  const char divides = separator == Separator::comma       ? ','
                       : separator == Separator::semicolon ? ';'
                       : separator == Separator::tab       ? '\t'
                                                           : '\0';  // there is none
  std::vector<SeparatedRow> rows = RowReader(text, divides, quotes, name).read();
  if (separator == Separator::space) divide_at_space(rows, name);
  return rows;
}

}  // namespace trainyard
