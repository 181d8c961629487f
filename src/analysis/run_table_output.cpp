#include <fmt/format.h>

#include <algorithm>

#include "analysis/run_table.h"
#include "analysis/text_table.h"
#include "base/text.h"
#include "report/csv_file.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

std::string shown(const std::optional<double>& value) { return value ? value_text(*value) : ""; }

/// "complete", "failed (4)": with the exit code, if it is not 0.
std::string state_text(const RunTableRow& row) {
  if (row.exit_code.value_or(0) == 0) return row.state;
  return fmt::format("{} ({})", row.state, *row.exit_code);
}

std::string epoch_text(const RunTableRow& row) {
  if (!row.epoch) return "";
  return std::to_string(*row.epoch) + (row.epochs ? "/" + std::to_string(*row.epochs) : "");
}

/// The metric that all runs are judged by; "" if they differ.
std::string common_metric(const RunTable& table) {
  std::string name;
  for (const RunTableRow& row : table.rows) {
    if (!row.best) continue;
    if (!name.empty() && name != row.best->metric) return "";
    name = row.best->metric;
  }
  return name;
}

/// `metric`: see common_metric(); without one each row names its own.
TableLine line_of(const RunTable& table, const RunTableRow& row, const std::string& metric) {
  TableLine line = {row.run, state_text(row), epoch_text(row)};
  const std::string own = row.best && metric.empty() ? row.best->metric + " " : "";
  line.push_back(row.best ? own + value_text(row.best->value) : "");
  line.push_back(row.best ? std::to_string(row.best->epoch) : "");
  for (std::size_t i = 0; i < table.measured.size(); ++i) {
    line.push_back(shown(row.measured[i].last));
  }
  line.push_back(row.elapsed_s ? duration_text(*row.elapsed_s) : "");
  return line;
}

std::string key_text(const std::string& value) {
  constexpr std::size_t kMost = 24;
  return value.size() <= kMost ? value : value.substr(0, kMost) + "...";
}

Json best_json(const std::optional<BestValue>& best) {
  if (!best) return nullptr;
  return {{"metric", best->metric}, {"value", number_or_null(best->value)}, {"epoch", best->epoch}};
}

Json count_or_null(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_json(const RunTable& table, const RunTableRow& row) {
  Json json{{"run", row.run},
            {"state", row.state},
            {"exit_code", count_or_null(row.exit_code)},
            {"epoch", count_or_null(row.epoch)},
            {"epochs", count_or_null(row.epochs)},
            {"best", best_json(row.best)},
            {"elapsed_s", number_or_null(row.elapsed_s)},
            {"images_per_s", number_or_null(row.images_per_s)}};
  for (std::size_t i = 0; i < table.measured.size(); ++i) {
    json["metrics"][table.measured[i]] = {{"last", number_or_null(row.measured[i].last)},
                                          {"best", number_or_null(row.measured[i].best)}};
  }
  json["config"] = Json::object();
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    json["config"][table.keys[i]] = row.values[i];
  }
  return json;
}

void add_count(CsvRow& fields, const std::optional<std::int64_t>& value) {
  if (value) {
    fields.add(*value);
  } else {
    fields.add_text("");
  }
}

CsvRow csv_row(const RunTableRow& row) {
  CsvRow fields;
  fields.add_text(row.run).add_text(row.state);
  add_count(fields, row.exit_code);
  add_count(fields, row.epoch);
  add_count(fields, row.epochs);
  fields.add_text(row.best ? row.best->metric : "");
  fields.add(row.best ? std::optional(row.best->value) : std::nullopt);
  add_count(fields, row.best ? std::optional(row.best->epoch) : std::nullopt);
  fields.add(row.elapsed_s).add(row.images_per_s);
  for (const Measured& measured : row.measured) fields.add(measured.last).add(measured.best);
  for (const std::string& value : row.values) fields.add_text(value);
  return fields;
}

}  // namespace

std::string run_table_text(const RunTable& table, std::size_t most_keys) {
  const std::size_t keys = std::min(table.keys.size(), most_keys);
  const std::string metric = common_metric(table);
  TableLine heading = {"run", "state", "epoch", metric.empty() ? "best" : "best " + metric, "at"};
  heading.insert(heading.end(), table.measured.begin(), table.measured.end());
  heading.emplace_back("time");
  for (std::size_t i = 0; i < keys; ++i) heading.push_back(table.keys[i]);
  std::vector<TableLine> lines = {heading};
  for (const RunTableRow& row : table.rows) {
    TableLine& line = lines.emplace_back(line_of(table, row, metric));
    for (std::size_t i = 0; i < keys; ++i) line.push_back(key_text(row.values[i]));
  }
  std::string text = aligned_table(lines);
  if (keys < table.keys.size()) {
    text += fmt::format("{} more keys differ: --csv FILE and --json have all of them\n",
                        table.keys.size() - keys);
  }
  return text;
}

std::string run_table_csv(const RunTable& table) {
  CsvRow heading;
  for (const char* name : {"run", "state", "exit_code", "epoch", "epochs", "best_metric", "best",
                           "best_epoch", "elapsed_s", "images_per_s"}) {
    heading.add(std::string_view(name));
  }
  for (const std::string& name : table.measured) {
    heading.add_text("last_" + name).add_text("best_" + name);
  }
  for (const std::string& key : table.keys) heading.add_text(key);
  std::string text = heading.text();
  for (const RunTableRow& row : table.rows) text += csv_row(row).text();
  return text;
}

Json run_table_json(const RunTable& table) {
  Json runs = Json::array();
  for (const RunTableRow& row : table.rows) runs.push_back(row_json(table, row));
  return {{"keys", table.keys}, {"runs", runs}};
}

}  // namespace trainyard
