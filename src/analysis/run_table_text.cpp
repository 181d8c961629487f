// `train compare` for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/run_table.h"
#include "analysis/text_table.h"
#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

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
