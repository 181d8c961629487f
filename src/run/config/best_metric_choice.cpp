#include "run/config/best_metric_choice.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "ops/metric.h"

namespace trainyard {
namespace {

/// The columns a run can select its best model by: the loss, then the metrics.
std::vector<std::string> candidate_columns(std::span<const std::string> names) {
  std::vector<std::string> columns{"val_loss"};
  for (const std::string& name : names) columns.push_back("val_" + name);
  return columns;
}

/// The node of `checkpoint.best.metric`, or the innermost existing one around it.
const config::Node& written_metric(const config::Node& file) {
  const config::Node* node = &file;
  for (const char* key : {"checkpoint", "best", "metric"}) {
    const config::Node* below = node->find(key);
    if (below == nullptr) break;
    node = below;
  }
  return *node;
}

/// False if some metric of the file could not be read.
bool all_metrics_read(const RunConfig& run, const config::Node& file) {
  const config::Node* metrics = file.find("metrics");
  return metrics == nullptr || metrics->items.size() == run.metrics.size();
}

std::string metric_name(const Op& metric) {
  if (metric.type() != "top_k") return std::string(metric.type());
  const std::int64_t k = static_cast<const TopKOp&>(metric).values().k;
  return "top" + std::to_string(k) + "_accuracy";
}

}  // namespace

std::vector<std::string> metric_names(std::span<const std::shared_ptr<const Op>> metrics) {
  std::vector<std::string> names;
  for (const auto& metric : metrics) names.push_back(metric_name(*metric));
  return names;
}

void check_best_metric(const RunConfig& run, const config::Node& file,
                       config::Diagnostics& diagnostics) {
  if (!run.checkpoint.best || !all_metrics_read(run, file)) return;
  const std::string& wanted = run.checkpoint.best->metric;
  const std::vector<std::string> columns = candidate_columns(metric_names(run.metrics));
  const bool missing = wanted.empty() && !diagnostics.empty();  // reported already
  if (missing || std::ranges::find(columns, wanted) != columns.end()) return;
  diagnostics.error(written_metric(file).where, "checkpoint.best: 'metric' must be one of " +
                                                    joined(columns) + ", found '" + wanted + "'" +
                                                    config::suggestion(wanted, columns));
}

BestMetric best_metric_of(const RunConfig& config, std::span<const std::string> names) {
  const std::vector<std::string> columns = candidate_columns(names);
  const std::string wanted =
      config.checkpoint.best ? config.checkpoint.best->metric : columns[names.empty() ? 0 : 1];
  const auto found = std::ranges::find(columns, wanted);
  TY_CHECK(found != columns.end(), "the run has no column '" + wanted + "' to select by");
  BestMetric rule{.metric = static_cast<int>(found - columns.begin()) - 1,
                  .min_delta = config.early_stop ? config.early_stop->min_delta : 0};
  rule.larger_is_better = config.checkpoint.best
                              ? config.checkpoint.best->mode == BestConfig::Mode::max
                              : rule.metric >= 0;
  return rule;
}

std::string best_metric_column(const BestMetric& best, std::span<const std::string> names) {
  return best.metric < 0 ? "val_loss" : "val_" + names[static_cast<std::size_t>(best.metric)];
}

}  // namespace trainyard
