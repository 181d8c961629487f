// Lines that fit a terminal: made of parts, some of which are left out if it is narrow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct LinePart {
  std::string text;
  int rank = 0;  // the highest is left out first, among equal ones the last; 0 always stays
};

/// Columns of a text in UTF-8 whose characters are one column wide each.
[[nodiscard]] int columns_of(std::string_view text);
/// The parts that fit into `columns` with `separator` between them, in order; 0: all.
[[nodiscard]] std::vector<LinePart> fitted(std::vector<LinePart> parts, std::string_view separator,
                                           int columns);
[[nodiscard]] std::string joined(const std::vector<LinePart>& parts, std::string_view separator);

}  // namespace trainyard
