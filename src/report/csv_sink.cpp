#include "report/csv_sink.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

namespace {

constexpr const char* kAccuracy = "accuracy";

const MetricValue* find_metric(const EpochRow& row, const std::string& name) {
  const auto found = std::find_if(row.metrics.begin(), row.metrics.end(),
                                  [&](const MetricValue& metric) { return metric.name == name; });
  return found == row.metrics.end() ? nullptr : &*found;
}

void add_metrics(CsvRow& fields, const MetricsColumns& columns, const EpochRow& row,
                 std::optional<double> MetricValue::*split) {
  const auto add = [&](const std::string& name) {
    const MetricValue* metric = find_metric(row, name);
    fields.add(metric == nullptr ? std::nullopt : metric->*split);
  };
  add(kAccuracy);
  for (const std::string& name : columns.extra_metrics) add(name);
}

void check_metrics(const MetricsColumns& columns, const EpochRow& row) {
  const auto& extra = columns.extra_metrics;
  for (const MetricValue& metric : row.metrics) {
    const bool known = metric.name == kAccuracy ||
                       std::find(extra.begin(), extra.end(), metric.name) != extra.end();
    TY_CHECK(known, "metric '" + metric.name + "' has no column");
  }
}

}  // namespace

std::vector<std::string> epoch_columns(const MetricsColumns& columns) {
  std::vector<std::string> names = {"epoch", "step", "samples", "loss"};
  const auto append = [&](std::vector<std::string> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (columns.regularisation) append({"reg_loss", "total_loss"});
  append({kAccuracy});
  append(columns.extra_metrics);
  append({"val_loss", std::string("val_") + kAccuracy});
  for (const std::string& name : columns.extra_metrics) append({"val_" + name});
  if (columns.clean) append({"clean_loss", std::string("clean_") + kAccuracy});
  for (const std::string& name : columns.extra_metrics) {
    if (columns.clean) append({"clean_" + name});
  }
  append({"lr", "grad_norm", "skipped_steps", "is_best"});
  append({"elapsed_s", "epoch_s", "images_per_s", "gpu_mem_mib", "gpu_util_percent"});
  append({"data_wait_percent"});
  return names;
}

std::vector<std::string> step_columns() {
  return {"step", "epoch", "loss", "lr", "grad_norm", "loss_scale", "elapsed_s", "images_per_s"};
}

CsvRow epoch_fields(const MetricsColumns& columns, const EpochRow& row) {
  check_metrics(columns, row);
  CsvRow fields;
  fields.add(row.epoch).add(row.step).add(row.samples).add(row.loss);
  if (columns.regularisation) fields.add(row.reg_loss).add(row.total_loss);
  add_metrics(fields, columns, row, &MetricValue::training);
  fields.add(row.val_loss);
  add_metrics(fields, columns, row, &MetricValue::validation);
  if (columns.clean) {
    fields.add(row.clean_loss);
    add_metrics(fields, columns, row, &MetricValue::clean);
  }
  fields.add(row.lr).add(row.grad_norm).add(row.skipped_steps);
  fields.add(std::int64_t{row.is_best ? 1 : 0});
  fields.add_rounded(row.elapsed_s, 3).add_rounded(row.epoch_s, 3).add_rounded(row.images_per_s, 1);
  fields.add(row.gpu_mem_mib).add_rounded(row.gpu_util_percent, 1);
  return fields.add_rounded(row.data_wait_percent, 1);
}

CsvRow step_fields(const StepRow& row) {
  CsvRow fields;
  fields.add(row.step).add(row.epoch).add(row.loss).add(row.lr).add(row.grad_norm);
  fields.add(row.loss_scale).add_rounded(row.elapsed_s, 3).add_rounded(row.images_per_s, 1);
  return fields;
}

namespace {

/// A field of a table; none if it is empty or no number.
std::optional<double> value_in(const std::string& field) {
  if (field == number_text(std::nan(""))) return std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  if (field == number_text(infinity)) return infinity;
  return parse_real(field);
}

/// The values in columns whose names are `wanted`, of each row that has any.
std::vector<EpochValues> values_of(std::string_view csv,
                                   const std::function<bool(std::string_view)>& wanted) {
  const std::vector<std::string> lines = split(csv, '\n');
  const std::vector<std::string> columns = split(lines[0], ',');
  std::vector<EpochValues> rows;
  for (const std::string& line : lines) {
    const std::vector<std::string> fields = split(line, ',');
    const auto epoch = parse_real(fields[0]);
    if (!epoch) continue;
    EpochValues row{.epoch = static_cast<std::int64_t>(*epoch), .values = {}};
    for (std::size_t i = 0; i < std::min(columns.size(), fields.size()); ++i) {
      const auto value = value_in(fields[i]);
      if (value && wanted(columns[i])) row.values.push_back({columns[i], *value});
    }
    if (!row.values.empty()) rows.push_back(row);
  }
  return rows;
}

std::vector<EpochValues> prefixed_values(std::string_view csv, std::string_view prefix) {
  return values_of(csv, [&](std::string_view name) { return name.starts_with(prefix); });
}

/// Whether a column has a loss or a metric of the training or the validation split.
bool is_result(std::string_view column) {
  static const std::vector<std::string> known = epoch_columns({.regularisation = true});
  constexpr std::array<std::string_view, 4> kResults{"loss", kAccuracy, "val_loss", "val_accuracy"};
  if (std::ranges::find(kResults, column) != kResults.end()) return true;
  return std::ranges::find(known, column) == known.end() && !column.starts_with("clean_");
}

}  // namespace

std::vector<NamedValue> measured(const std::vector<std::string>& columns, const CsvRow& row) {
  std::vector<NamedValue> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (const auto& value = row.values()[i]) values.push_back({columns[i], *value});
  }
  return values;
}

std::vector<NamedValue> last_values(std::string_view csv) {
  std::vector<EpochValues> rows = values_of(csv, is_result);
  return rows.empty() ? std::vector<NamedValue>{} : std::move(rows.back().values);
}

std::vector<NamedValue> validation_values(std::string_view csv, std::int64_t epoch) {
  for (EpochValues& row : prefixed_values(csv, "val_")) {
    if (row.epoch == epoch) return std::move(row.values);
  }
  return {};
}

EpochValues last_clean_values(std::string_view csv) {
  std::vector<EpochValues> rows = prefixed_values(csv, "clean_");
  return rows.empty() ? EpochValues{} : std::move(rows.back());
}

CsvSink::CsvSink(const Disk& disk, const fs::path& folder, MetricsColumns columns,
                 const ResumePoint& resume, bool with_steps)
    : columns_(std::move(columns)),
      epochs_(disk, folder / "metrics.csv", epoch_columns(columns_), resume.epoch) {
  if (with_steps) steps_.emplace(disk, folder / "steps.csv", step_columns(), resume.step);
}

std::vector<std::string> CsvSink::missing_rows() const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& name, const std::string& missing) {
    if (missing.empty()) return;
    lines.push_back(name + " lacks rows from before the resume: " + missing +
                    "; they stay missing, training continues where it was");
  };
  add("metrics.csv", epochs_.missing());
  if (steps_) add("steps.csv", steps_->missing());
  return lines;
}

void CsvSink::on_epoch(const EpochRow& row) { epochs_.append(epoch_fields(columns_, row)); }

void CsvSink::on_step(const StepRow& row) {
  if (steps_) steps_->append(step_fields(row));
}

void CsvSink::sync() {
  epochs_.sync();
  if (steps_) steps_->sync();
}

}  // namespace trainyard
