#include "config/text_check.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "base/text.h"

namespace trainyard::config {
namespace {

std::string hexadecimal(char c) {
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), "0x%02x", static_cast<unsigned char>(c));
  return text.data();
}

// A `#` at the start of a line or after a blank begins a comment.
bool begins_comment(std::string_view line, std::size_t i) {
  return line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t');
}

// Reports the first error of a line.
void check_line(std::string_view line, Position where, Diagnostics& diagnostics) {
  bool comment = false;
  for (std::size_t i = 0; i < line.size();) {
    where.column = static_cast<int>(i) + 1;
    comment = comment || begins_comment(line, i);
    const std::size_t length = utf8_length(line.substr(i));
    const auto byte = static_cast<unsigned char>(line[i]);
    const bool line_end = byte == '\r' && i + 1 == line.size();
    if (length == 0) {
      diagnostics.error(where, "byte " + hexadecimal(line[i]) + " is not UTF-8 text");
      return;
    }
    if (byte == '\t' && !comment) {
      diagnostics.error(where, "a tab; write spaces (or \\t between double quotes)");
      return;
    }
    if (byte != '\t' && !line_end && (byte < 0x20 || byte == 0x7f)) {
      diagnostics.error(where, "control character " + hexadecimal(line[i]) +
                                   "; write it as an escape between double quotes");
      return;
    }
    i += length;
  }
}

}  // namespace

void check_text(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
  Position where{name, 1, 1};
  bool before_content = true;
  for (std::size_t begin = 0; begin < text.size(); ++where.line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    check_line(line, where, diagnostics);
    if (before_content && line.substr(0, 1) == "%") {
      diagnostics.error(where, "directives (%) are not part of the language; remove this line");
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool content = first != line.npos && line[first] != '#' && line[0] != '%';
    before_content = before_content && !content;
    begin = end + 1;
  }
}

}  // namespace trainyard::config
