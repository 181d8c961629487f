// The best row of a table, and rows sorted by a column.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "analysis/run_table.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "config/diagnostics.h"
#include "run/config/run_config.h"

namespace trainyard {

namespace {

bool larger_is_better(const std::string& metric) {
  return usual_mode(metric) == BestConfig::Mode::max;
}

struct SortColumn {
  std::string name;
  bool largest_first = false;
  std::function<std::optional<double>(const RunTableRow&)> value;
};

std::optional<double> best_value(const RunTableRow& row) {
  return row.best ? std::optional(row.best->value) : std::nullopt;
}

std::vector<SortColumn> sort_columns(const RunTable& table) {
  std::vector<SortColumn> columns = {
      {"best", larger_is_better(common_metric(table)), best_value},
      {"epoch", true, [](const RunTableRow& row) { return std::optional<double>(row.epoch); }},
      {"time", false, [](const RunTableRow& row) { return row.elapsed_s; }},
      {"images_per_s", true, [](const RunTableRow& row) { return row.images_per_s; }}};
  for (std::size_t i = 0; i < table.measured.size(); ++i) {
    const std::string& name = table.measured[i];
    const bool largest = larger_is_better(name);
    columns.push_back(
        {name, largest, [=](const RunTableRow& row) { return row.measured[i].last; }});
    columns.push_back(
        {"best_" + name, largest, [=](const RunTableRow& row) { return row.measured[i].best; }});
  }
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    columns.push_back(
        {table.keys[i], false, [=](const RunTableRow& row) { return parse_real(row.values[i]); }});
  }
  return columns;
}

/// By its name, or by the end of a key's.
const SortColumn& column_named(const std::vector<SortColumn>& columns, const std::string& name) {
  const SortColumn* found = nullptr;
  std::vector<std::string> names;
  for (const SortColumn& column : columns) {
    if (column.name == name) return column;
    if (column.name.ends_with("." + name)) found = &column;
    names.push_back(column.name);
  }
  if (found != nullptr) return *found;
  refuse_command("--sort: there is no column '" + name + "'" + config::suggestion(name, names) +
                 " (known: " + joined(names) + ")");
}

}  // namespace

std::string common_metric(const RunTable& table) {
  std::string name;
  for (const RunTableRow& row : table.rows) {
    if (!row.best) continue;
    if (!name.empty() && name != row.best->metric) return "";
    name = row.best->metric;
  }
  return name;
}

std::optional<std::size_t> best_row(const RunTable& table) {
  const std::string metric = common_metric(table);
  if (metric.empty()) return std::nullopt;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!table.rows[i].best) continue;
    const double value = table.rows[i].best->value;
    const double known = best ? table.rows[*best].best->value : 0;
    if (!best || (larger_is_better(metric) ? value > known : value < known)) best = i;
  }
  return best;
}

void sort_rows(RunTable& table, const std::string& name) {
  const std::vector<SortColumn> columns = sort_columns(table);
  const SortColumn& column = column_named(columns, name);
  std::ranges::stable_sort(table.rows, {}, [&](const RunTableRow& row) {
    const double value = column.value(row).value_or(NAN);
    if (std::isnan(value)) return std::numeric_limits<double>::infinity();
    return column.largest_first ? -value : value;
  });
}

std::string repeat_command(const std::filesystem::path& folder) {
  std::string command = "train --config " + shell_quoted((folder / "config.yaml").string());
  const std::optional<Json> run = run_record(folder / "run.json");
  if (!run) return command;
  try {
    const Json init = run->value("init", Json::object());
    const std::string from = init.value("from", "");
    if (!from.empty()) command += " --init " + shell_quoted(from);
    for (const std::string& pattern : init.value("skip", std::vector<std::string>())) {
      command += " --init-skip " + shell_quoted(pattern);
    }
    const int ranks = run->value("ranks", 1);
    if (ranks > 1) command += " --replicas " + std::to_string(ranks);
    if (ranks > 1 && run->value("device", "") == "cpu") command += " --gpus 0";
  } catch (const Json::exception&) {  // not a record of ours
  }
  return command;
}

}  // namespace trainyard
