// Rows of separated text: CSV (RFC 4180) and its relatives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace trainyard {

enum class Separator {
  comma,      // cells may be quoted: "a, ""b"""
  semicolon,  // likewise
  tab,        // no quotes
  space,      // two cells, divided by the last space of the line; no quotes
};
[[nodiscard]] constexpr config::Words<Separator> words(Separator) {
  return {"comma", "semicolon", "tab", "space"};
}

struct SeparatedRow {
  std::int64_t line = 0;  // from 1: where it begins
  std::vector<std::string> cells;
};

/// The rows of a text whose lines end in \n or \r\n, without empty lines and a byte order mark.
/// `name` is the file's, for messages. Throws Error{data} with the line: a quote that is not
/// closed, text after a closing quote, a zero byte, a line without a space where one divides it.
[[nodiscard]] std::vector<SeparatedRow> separated_rows(std::string_view text, Separator separator,
                                                       const std::string& name);

/// Throws Error{data}: the file, the line and `what`.
[[noreturn]] void bad_line(const std::string& name, std::int64_t line, const std::string& what);

}  // namespace trainyard
