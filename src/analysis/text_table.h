// Tables in columns, for people.
#pragma once

#include <string>
#include <vector>

namespace trainyard {

struct TableColumn {
  std::string heading;
  std::vector<std::string> cells;  // as many as the other columns have
  int rank = 0;  // the highest is left out first if a line is too long, among equal ones the last;
                 // 0 always stays
};

struct TableText {
  std::string text;
  std::size_t omitted = 0;  // columns left out for lack of room
};

/// The columns with two blanks between them; numbers are aligned on the right. A column that is
/// empty but for its heading is left out. Lines have at most `width` columns of the terminal (0:
/// any number): columns are left out, then the first one is cut at its front.
[[nodiscard]] TableText table_text(std::vector<TableColumn> columns, int width);

}  // namespace trainyard
