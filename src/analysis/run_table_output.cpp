// `train compare` for programs.
#include "analysis/run_table.h"
#include "report/csv_file.h"

namespace trainyard {

namespace {

Json best_json(const std::optional<BestValue>& best) {
  if (!best) return nullptr;
  return {{"metric", best->metric}, {"value", number_or_null(best->value)}, {"epoch", best->epoch}};
}

Json count_or_null(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json config_json(const RunTable& table, const RunTableRow& row) {
  Json json = Json::object();
  for (std::size_t i = 0; i < table.keys.size(); ++i) json[table.keys[i]] = row.values[i];
  return json;
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
  json["config"] = config_json(table, row);
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

Json statistic_json(const std::optional<double>& mean, const std::optional<double>& deviation) {
  return {{"mean", number_or_null(mean)}, {"deviation", number_or_null(deviation)}};
}

Json group_json(const RunTable& table, const RunTableRow& row) {
  const RunGroup& group = *row.group;
  Json best;
  if (row.best) {
    best = statistic_json(row.best->value, group.best);
    best["metric"] = row.best->metric;
  }
  Json json{{"config", config_json(table, row)},
            {"seeds", group.seeds},
            {"runs", group.runs},
            {"left_out", group.left_out},
            {"best", best},
            {"elapsed_s", number_or_null(row.elapsed_s)}};
  for (std::size_t i = 0; i < table.measured.size(); ++i) {
    json["metrics"][table.measured[i]] = {
        {"last", statistic_json(row.measured[i].last, group.measured[i].last)},
        {"best", statistic_json(row.measured[i].best, group.measured[i].best)}};
  }
  return json;
}

CsvRow group_csv_row(const RunTableRow& row) {
  const RunGroup& group = *row.group;
  CsvRow fields;
  for (const std::string& value : row.values) fields.add_text(value);
  fields.add(std::ssize(group.seeds)).add(std::ssize(group.left_out));
  fields.add_text(row.best ? row.best->metric : "");
  fields.add(row.best ? std::optional(row.best->value) : std::nullopt).add(group.best);
  fields.add(row.elapsed_s);
  for (std::size_t i = 0; i < row.measured.size(); ++i) {
    fields.add(row.measured[i].last).add(group.measured[i].last);
    fields.add(row.measured[i].best).add(group.measured[i].best);
  }
  return fields;
}

std::string groups_csv(const RunTable& table) {
  CsvRow heading;
  for (const std::string& key : table.keys) heading.add_text(key);
  for (const char* name :
       {"seeds", "left_out", "best_metric", "best", "best_deviation", "elapsed_s"}) {
    heading.add(std::string_view(name));
  }
  for (const std::string& name : table.measured) {
    for (const std::string& column : {"last_" + name, "best_" + name}) {
      heading.add_text(column).add_text(column + "_deviation");
    }
  }
  std::string text = heading.text();
  for (const RunTableRow& row : table.rows) text += group_csv_row(row).text();
  return text;
}

Json best_row_json(const RunTable& table) {
  const auto best = best_row(table);
  if (!best) return nullptr;
  const std::string& run = table.rows[*best].run;
  return {{"run", run}, {"command", repeat_command(run)}};
}

}  // namespace

std::string run_table_csv(const RunTable& table) {
  if (table.grouped) return groups_csv(table);
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
  Json rows = Json::array();
  for (const RunTableRow& row : table.rows) {
    rows.push_back(table.grouped ? group_json(table, row) : row_json(table, row));
  }
  const char* const keys = table.grouped ? "by" : "keys";
  return {{keys, table.keys},
          {table.grouped ? "groups" : "runs", rows},
          {"best", best_row_json(table)}};
}

}  // namespace trainyard
