// `train compare` for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/run_table.h"
#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

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

/// The columns with two blanks between them; numbers are aligned on the right. A column that is
/// empty but for its heading is left out. Lines have at most `width` columns of the terminal (0:
/// any number): columns are left out, then the first one is cut at its front.
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

using Cells = std::vector<std::string>;

/// Ranks of columns: what is left out first if a line is too long.
enum Rank { kStays = 0, kState, kEpoch, kLossRank, kKey, kTime, kAt, kTraining, kFurther };

/// "0.4480", "43177.2", "4.3e10", "1.25e-5".
std::string short_text(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value) || size == 0) return value_text(value);
  if (size >= 1e3 && size < 1e5) return fmt::format("{:.1f}", value);
  if (size >= 1e-3 && size < 1e5) return value_text(value);
  std::string text = fmt::format("{:.{}e}", value, size < 1 ? 2 : 1);
  const std::size_t sign = text.find('e') + 1;
  const std::size_t digit = std::min(text.find_first_of("123456789", sign), text.size() - 1);
  return text.erase(sign, digit - sign).insert(sign, size < 1 ? "-" : "");
}

std::string shown(const std::optional<double>& value) { return value ? short_text(*value) : ""; }

/// "0.4480 +- 0.0021".
std::string with_deviation(const std::optional<double>& mean,
                           const std::optional<double>& deviation) {
  return deviation ? shown(mean) + " +- " + short_text(*deviation) : shown(mean);
}

/// "complete", "failed (4)": with the exit code, if it is not 0.
std::string state_text(const RunTableRow& row) {
  if (row.exit_code.value_or(0) == 0) return row.state;
  return fmt::format("{} ({})", row.state, *row.exit_code);
}

std::string epoch_text(const RunTableRow& row) {
  if (!row.epoch) return "";
  return std::to_string(*row.epoch) + (row.epochs ? "/" + std::to_string(*row.epochs) : "");
}

/// `metric`: see common_metric(); without one each row names its own.
std::string best_text(const RunTableRow& row, const std::string& metric) {
  if (!row.best) return "";
  const std::string value =
      row.group ? with_deviation(row.best->value, row.group->best) : short_text(row.best->value);
  return (metric.empty() ? row.best->metric + " " : "") + value;
}

std::string seeds_text(const RunTableRow& row) {
  const std::string seeds = std::to_string(row.group->seeds.size());
  const std::size_t left = row.group->left_out.size();
  return left == 0 ? seeds : fmt::format("{} ({} left out)", seeds, left);
}

std::string key_text(const std::string& value) {
  constexpr std::size_t kMost = 24;
  return value.size() <= kMost ? value : value.substr(0, kMost) + "...";
}

template <typename Cell>
TableColumn made_column(const RunTable& table, std::string heading, int rank, const Cell& cell) {
  TableColumn column{.heading = std::move(heading), .cells = {}, .rank = rank};
  for (const RunTableRow& row : table.rows) column.cells.push_back(cell(row));
  return column;
}

TableColumn measured_column(const RunTable& table, std::size_t i) {
  const std::string& name = table.measured[i];
  const bool loss = name.find("loss") != std::string::npos && name.starts_with("val_");
  const int rank = i >= 4 ? kFurther : loss ? kLossRank : kTraining;
  return made_column(table, name, rank, [&](const RunTableRow& row) {
    return row.group ? with_deviation(row.measured[i].last, row.group->measured[i].last)
                     : shown(row.measured[i].last);
  });
}

TableColumn key_column(const RunTable& table, std::size_t i) {
  return made_column(table, table.keys[i], table.grouped ? kStays : kKey,
                     [&](const RunTableRow& row) { return key_text(row.values[i]); });
}

/// Which run, and how far it is; of groups which ones.
std::vector<TableColumn> first_columns(const RunTable& table) {
  std::vector<TableColumn> columns;
  if (table.grouped) {
    for (std::size_t i = 0; i < table.keys.size(); ++i) columns.push_back(key_column(table, i));
    columns.push_back(made_column(table, "seeds", kStays, seeds_text));
    return columns;
  }
  columns.push_back(
      made_column(table, "run", kStays, [](const RunTableRow& row) { return row.run; }));
  columns.push_back(made_column(table, "state", kState, state_text));
  columns.push_back(made_column(table, "epoch", kEpoch, epoch_text));
  return columns;
}

std::vector<TableColumn> text_columns(const RunTable& table, std::size_t keys) {
  const std::string metric = common_metric(table);
  std::vector<TableColumn> columns = first_columns(table);
  columns.push_back(made_column(table, metric.empty() ? "best" : "best " + metric, kStays,
                                [&](const RunTableRow& row) { return best_text(row, metric); }));
  if (!table.grouped) {
    columns.push_back(made_column(table, "at", kAt, [](const RunTableRow& row) {
      return row.best ? std::to_string(row.best->epoch) : "";
    }));
  }
  for (std::size_t i = 0; i < table.measured.size(); ++i) {
    columns.push_back(measured_column(table, i));
  }
  columns.push_back(made_column(table, "time", kTime, [](const RunTableRow& row) {
    return row.elapsed_s ? duration_text(*row.elapsed_s) : "";
  }));
  for (std::size_t i = 0; i < keys; ++i) columns.push_back(key_column(table, i));
  const auto best = best_row(table);
  columns.push_back(made_column(table, "", kStays, [&](const RunTableRow& row) {
    return best && table.rows.size() > 1 && &row == &table.rows[*best] ? "*" : "";
  }));
  return columns;
}

/// "*: the best val_accuracy; to train it again: train --config ...".
std::string best_line(const RunTable& table) {
  const auto best = best_row(table);
  if (!best || table.rows.size() < 2) return "";
  const std::string which = table.grouped ? "the best mean " : "the best ";
  return "*: " + which + common_metric(table) + "; to train " +
         (table.grouped ? "its best run" : "it") +
         " again: " + repeat_command(table.rows[*best].run) + "\n";
}

}  // namespace

std::string run_table_text(const RunTable& table, int width, std::size_t most_keys) {
  const std::size_t keys = table.grouped ? 0 : std::min(table.keys.size(), most_keys);
  const TableText shown = table_text(text_columns(table, keys), width);
  std::string text = shown.text;
  if (table.grouped) text += "mean +- standard deviation of a sample, over seeds\n";
  if (!table.grouped && keys < table.keys.size()) {
    text += fmt::format("{} more {} differ: --csv FILE and --json have all of them\n",
                        table.keys.size() - keys,
                        plural(static_cast<std::int64_t>(table.keys.size() - keys), "key"));
  }
  if (shown.omitted > 0) {
    text += count_text(static_cast<std::int64_t>(shown.omitted), "column") +
            " left out for lack of room: --csv FILE and --json have all of them\n";
  }
  return text + best_line(table);
}

}  // namespace trainyard
