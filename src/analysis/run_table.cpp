#include "analysis/run_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "config/diagnostics.h"
#include "run/config/run_config.h"

namespace trainyard {
namespace {

/// Columns of metrics.csv before the learning rate that count instead of measuring.
bool is_count(const std::string& column) {
  return column == "epoch" || column == "step" || column == "samples";
}

/// The measured columns of all runs.
std::vector<std::string> measured_columns(std::span<const RecordedRun> runs) {
  std::vector<std::string> names = {"loss", "accuracy", "val_loss", "val_accuracy"};
  std::unordered_set<std::string> known(names.begin(), names.end());
  for (const RecordedRun& run : runs) {
    for (const std::string& column : run.epochs.columns) {
      if (column == "lr") break;  // what follows measures the training itself
      if (!is_count(column) && known.insert(column).second) names.push_back(column);
    }
  }
  return names;
}

std::optional<double> last_of(const std::vector<std::optional<double>>& values) {
  return values.empty() ? std::nullopt : values.back();
}

/// The last and best value of the column `index`, called `name`.
Measured measured_of(const CsvTable& epochs, std::size_t index, const std::string& name) {
  const bool minimised = usual_mode(name) == BestConfig::Mode::min;
  Measured measured;
  for (const auto& row : epochs.rows) {
    const std::optional<double>& value = measured.last = row[index];
    if (!value) continue;
    const bool better =
        !measured.best || (minimised ? *value < *measured.best : *value > *measured.best);
    if (better) measured.best = value;
  }
  return measured;
}

/// The columns of a table by name.
std::unordered_map<std::string, std::size_t> indices_of(const CsvTable& table) {
  std::unordered_map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < table.columns.size(); ++i) indices.emplace(table.columns[i], i);
  return indices;
}

std::optional<std::int64_t> whole(const std::optional<double>& value) {
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

RunTableRow row_of(const RecordedRun& run, const RunTable& table) {
  RunTableRow row{.run = run.folder.string(),
                  .state = run.state,
                  .exit_code = run.exit_code,
                  .epoch = whole(last_of(run.epochs.values("epoch"))),
                  .epochs = parse_integer(config::value_at(run.config, "epochs")),
                  .elapsed_s = last_of(run.epochs.values("elapsed_s")),
                  .images_per_s = last_of(run.epochs.values("images_per_s"))};
  if (run.status) {
    row.best = run.status->best;
    if (!row.epoch) row.epoch = run.status->at.epoch;
    if (!row.epochs) row.epochs = run.status->epochs;
  }
  const std::unordered_map<std::string, std::size_t> indices = indices_of(run.epochs);
  for (const std::string& name : table.measured) {
    const auto index = indices.find(name);
    row.measured.push_back(index == indices.end() ? Measured()
                                                  : measured_of(run.epochs, index->second, name));
  }
  return row;
}

void add_variations(std::span<const RecordedRun> runs, RunTable& table) {
  std::vector<const config::Node*> configs;
  for (const RecordedRun& run : runs) {
    // A run without a config says nothing about what varies.
    if (run.config.kind == config::Node::Kind::map) configs.push_back(&run.config);
  }
  std::vector<config::Variation> varied = config::variations(configs);
  std::erase_if(varied,
                [](const config::Variation& variation) { return variation.key == kThreadsKey; });
  std::unordered_set<std::string> changed;
  for (const RecordedRun& run : runs) changed.insert(run.changed.begin(), run.changed.end());
  std::ranges::stable_partition(
      varied, [&](const config::Variation& variation) { return changed.contains(variation.key); });
  for (const config::Variation& variation : varied) table.keys.push_back(variation.key);
  std::size_t next = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool known = runs[i].config.kind == config::Node::Kind::map;
    for (const config::Variation& variation : varied) {
      table.rows[i].values.push_back(known ? variation.values[next] : "");
    }
    if (known) ++next;
  }
}

/// The facts that are not the same in all runs that record them.
void add_facts(std::span<const RecordedRun> runs, RunTable& table) {
  for (const std::string& key : result_fact_keys()) {
    std::set<std::string> values;
    for (const RecordedRun& run : runs) {
      if (const auto value = fact_of(run, key)) values.insert(*value);
    }
    if (values.size() < 2) continue;
    table.keys.push_back(key);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      table.rows[i].values.push_back(fact_of(runs[i], key).value_or(""));
    }
  }
}

std::string value_of(const RecordedRun& run, const std::string& key) {
  const bool fact = std::ranges::find(result_fact_keys(), key) != result_fact_keys().end();
  return fact ? fact_of(run, key).value_or("") : config::value_at(run.config, key);
}

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

void require_config(const RecordedRun& run) {
  if (run.config.kind == config::Node::Kind::map) return;
  throw data_error("the config of '" + run.folder.string() +
                   "' cannot be read: " + joined(run.problems, "; "));
}

std::string or_unset(const std::string& value) { return value.empty() ? "(not set)" : value; }
Json or_null(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

}  // namespace

RunTable tabulate(std::span<const RecordedRun> runs, std::vector<std::string> keys) {
  RunTable table{.measured = measured_columns(runs), .keys = {}, .rows = {}};
  for (const RecordedRun& run : runs) table.rows.push_back(row_of(run, table));
  if (keys.empty()) {
    add_variations(runs, table);
    add_facts(runs, table);
    return table;
  }
  table.keys = std::move(keys);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const std::string& key : table.keys) {
      table.rows[i].values.push_back(value_of(runs[i], key));
    }
  }
  return table;
}

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

std::string repeat_command(const fs::path& folder) {
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

std::vector<config::Difference> run_differences(const RecordedRun& before,
                                                const RecordedRun& after) {
  require_config(before);
  require_config(after);
  std::vector<config::Difference> found = config::differences(before.config, after.config);
  std::erase_if(found,
                [](const config::Difference& difference) { return difference.key == kThreadsKey; });
  for (const std::string& key : result_fact_keys()) {
    const auto a = fact_of(before, key), b = fact_of(after, key);
    if (a && b && *a != *b) found.push_back({.key = key, .before = *a, .after = *b});
  }
  return found;
}

std::string differences_text(const std::vector<config::Difference>& differences) {
  if (differences.empty()) return "the configs are the same\n";
  std::string text;
  for (const config::Difference& difference : differences) {
    text += difference.key + ": " + or_unset(difference.before) + " -> " +
            or_unset(difference.after) + "\n";
  }
  return text;
}

Json differences_json(const std::vector<config::Difference>& differences) {
  Json json = Json::object();
  for (const config::Difference& difference : differences) {
    json[difference.key] = {{"before", or_null(difference.before)},
                            {"after", or_null(difference.after)}};
  }
  return json;
}

}  // namespace trainyard
