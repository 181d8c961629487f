#include "analysis/text_table.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/text.h"

namespace trainyard {

namespace {

constexpr std::size_t kGap = 2;

/// "0.0123", "3/90", "0:12:30", "0.50 +- 0.01".
bool is_number(const std::string& field) {
  return field.find_first_not_of("0123456789.+-e/: ") == std::string::npos;
}

std::size_t width_of(const std::string& text) { return static_cast<std::size_t>(columns_of(text)); }

std::size_t width_of(const TableColumn& column) {
  std::size_t width = width_of(column.heading);
  for (const std::string& cell : column.cells) width = std::max(width, width_of(cell));
  return width;
}

std::size_t width_of(const std::vector<TableColumn>& columns) {
  std::size_t width = kGap * (columns.size() - 1);
  for (const TableColumn& column : columns) width += width_of(column);
  return width;
}

/// Leaves out what does not fit.
void fit(std::vector<TableColumn>& columns, std::size_t most) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return columns[i].rank; });
  std::size_t width = width_of(columns);
  std::vector<bool> kept(columns.size(), true);
  for (const std::size_t i : order) {
    if (width <= most || columns[i].rank == 0) break;
    width -= width_of(columns[i]) + kGap;
    kept[i] = false;
  }
  std::size_t next = 0;
  std::erase_if(columns, [&](const TableColumn&) { return !kept[next++]; });
}

/// Cuts the first column at its front, where runs have the same folder.
void cut_first(std::vector<TableColumn>& columns, std::size_t width) {
  constexpr std::size_t kLeast = 12;
  const std::size_t total = width_of(columns), own = width_of(columns.front());
  if (total <= width || own <= kLeast) return;
  const std::size_t most = std::max(kLeast, own - std::min(own, total - width));
  for (std::string& cell : columns.front().cells) {
    if (width_of(cell) <= most) continue;
    std::size_t begin = 0;
    while (width_of(cell.substr(begin)) > most - 3)
      begin += std::max<std::size_t>(utf8_length(std::string_view(cell).substr(begin)), 1);
    cell = "..." + cell.substr(begin);
  }
}

/// The cells below each other, as wide as the widest.
std::vector<std::string> aligned(const TableColumn& column) {
  const std::size_t width = width_of(column);
  const bool right = std::ranges::all_of(column.cells, is_number);
  std::vector<std::string> cells = {column.heading};
  cells.insert(cells.end(), column.cells.begin(), column.cells.end());
  for (std::string& cell : cells) {
    const std::string blanks(width - width_of(cell), ' ');
    cell = right ? blanks + cell : cell + blanks;
  }
  return cells;
}

}  // namespace

TableText table_text(std::vector<TableColumn> columns, int width) {
  std::erase_if(columns, [](const TableColumn& column) {
    return std::ranges::all_of(column.cells, &std::string::empty);
  });
  if (columns.empty()) return {};
  const std::size_t all = columns.size();
  if (width > 0) {
    fit(columns, static_cast<std::size_t>(width));
    cut_first(columns, static_cast<std::size_t>(width));
  }
  std::vector<std::string> lines(columns.front().cells.size() + 1);
  for (const TableColumn& column : columns) {
    const std::vector<std::string> cells = aligned(column);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i] += (lines[i].empty() ? "" : std::string(kGap, ' ')) + cells[i];
    }
  }
  TableText table{.omitted = all - columns.size()};
  for (const std::string& line : lines) {
    table.text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

}  // namespace trainyard
