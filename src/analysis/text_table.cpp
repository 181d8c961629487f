#include "analysis/text_table.h"

#include <algorithm>

#include "base/text.h"
#include "report/line_parts.h"

namespace trainyard {

namespace {

struct TableColumn {
  std::size_t width = 0;
  bool numbers = true;
  bool used = false;
};

/// "0.0123", "3/90", "0:12:30".
bool is_number(const std::string& field) {
  return field.find_first_not_of("0123456789.+-e/: ") == std::string::npos;
}

TableColumn column_of(const std::vector<TableLine>& lines, std::size_t index) {
  TableColumn column;
  for (const TableLine& line : lines) {
    const std::string& field = line[index];
    column.width = std::max(column.width, static_cast<std::size_t>(columns_of(field)));
    if (&line == &lines.front()) continue;
    column.used = column.used || !field.empty();
    column.numbers = column.numbers && is_number(field);
  }
  return column;
}

}  // namespace

std::string aligned_table(const std::vector<TableLine>& lines) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < lines.front().size(); ++i) columns.push_back(column_of(lines, i));
  std::string text;
  for (const TableLine& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!columns[i].used) continue;
      const auto width = static_cast<std::size_t>(columns_of(line[i]));
      const std::string blanks(columns[i].width - width, ' ');
      row += (row.empty() ? "" : "  ") + (columns[i].numbers ? blanks + line[i] : line[i] + blanks);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace trainyard
