// Tables in columns, for people.
#pragma once

#include <string>
#include <vector>

namespace trainyard {

using TableLine = std::vector<std::string>;

/// The lines with their columns aligned and two blanks between them; the first line is the heading.
/// A column of numbers is aligned on the right. A column that is empty but for its heading is left
/// out. All lines have as many fields.
[[nodiscard]] std::string aligned_table(const std::vector<TableLine>& lines);

}  // namespace trainyard
