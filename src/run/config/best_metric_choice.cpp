#include "run/config/best_metric_choice.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "run/config/losses.h"

namespace trainyard {
namespace {

/// The columns a run can select its best model by: the loss, then the metrics.
std::vector<std::string> candidate_columns(std::span<const std::string> names) {
  std::vector<std::string> columns{"val_loss"};
  for (const std::string& name : names) columns.push_back("val_" + name);
  return columns;
}

/// `checkpoint.best`, or null.
const BestConfig* best_of(const RunConfig& run) {
  return run.checkpoint && run.checkpoint->best ? &*run.checkpoint->best : nullptr;
}

/// Columns that a plateau can watch: the same, then their twins of the training split.
std::vector<std::string> plateau_columns(std::span<const std::string> names) {
  std::vector<std::string> columns = candidate_columns(names);
  columns.emplace_back("loss");
  columns.insert(columns.end(), names.begin(), names.end());
  return columns;
}

/// Reports a plateau that watches a metric of training that has no value there.
void check_measured(const RunConfig& run, const config::Node& where,
                    config::Diagnostics& diagnostics) {
  for (const auto& metric : run.metrics) {
    if (!metric->of_split() || column_of(*metric) != run.plateau->monitor) continue;
    diagnostics.error(where.where, "plateau: 'monitor': '" + run.plateau->monitor +
                                       "' is measured on the validation split alone; write 'val_" +
                                       run.plateau->monitor + "'");
  }
}

/// The node at the end of these keys, or the innermost existing one around it.
const config::Node& written_at(const config::Node& file, std::span<const char* const> keys) {
  const config::Node* node = &file;
  for (const char* key : keys) {
    const config::Node* below = node->find(key);
    if (below == nullptr) break;
    node = below;
  }
  return *node;
}

/// False if some metric or loss of the file could not be read.
bool all_read(const RunConfig& run, const config::Node& file) {
  const config::Node *metrics = file.find("metrics"), *heads = file.find("heads");
  return run.loss != nullptr &&
         (metrics == nullptr || metrics->items.size() == run.metrics.size()) &&
         (heads == nullptr || heads->items.size() == run.heads.size());
}

/// Reports `wanted` if it is none of `columns`, as the value of the key at `where` in `file`.
void check_column(const std::string& wanted, const std::vector<std::string>& columns,
                  const config::Node& where, const std::string& key,
                  config::Diagnostics& diagnostics) {
  const bool missing = wanted.empty() && !diagnostics.empty();  // reported already
  if (missing || std::ranges::find(columns, wanted) != columns.end()) return;
  diagnostics.error(where.where, key + " must be one of " + joined(columns) + ", found '" + wanted +
                                     "'" + config::suggestion(wanted, columns));
}

}  // namespace

std::vector<std::string> metric_names(const RunConfig& run) {
  std::vector<std::string> names;
  for (const auto& metric : run.metrics) names.push_back(column_of(*metric));
  if (run.heads.empty()) return names;
  for (const auto& loss : losses_of(run)) names.push_back(column_of(*loss));
  return names;
}

void check_monitored(const RunConfig& run, const config::Node& file,
                     config::Diagnostics& diagnostics) {
  if (!all_read(run, file)) return;
  const std::vector<std::string> names = metric_names(run);
  if (best_of(run)) {
    static constexpr const char* kKeys[] = {"checkpoint", "best", "metric"};
    check_column(best_of(run)->metric, candidate_columns(names), written_at(file, kKeys),
                 "checkpoint.best: 'metric'", diagnostics);
  }
  if (run.plateau) {
    static constexpr const char* kKeys[] = {"plateau", "monitor"};
    check_column(run.plateau->monitor, plateau_columns(names), written_at(file, kKeys),
                 "plateau: 'monitor'", diagnostics);
    check_measured(run, written_at(file, kKeys), diagnostics);
  }
}

std::optional<PlateauOptions> plateau_of(const RunConfig& config,
                                         std::span<const std::string> names) {
  if (!config.plateau) return std::nullopt;
  const std::vector<std::string> columns = plateau_columns(names);
  const auto found = std::ranges::find(columns, config.plateau->monitor);
  TY_CHECK(found != columns.end(), "the run has no column '" + config.plateau->monitor + "'");
  const auto index = static_cast<int>(found - columns.begin());
  const int validated = static_cast<int>(names.size()) + 1;
  return PlateauOptions{.rule = config.plateau->rule,
                        .metric = index % validated - 1,
                        .of_training = index >= validated};
}

BestMetric best_metric_of(const RunConfig& config, std::span<const std::string> names) {
  const std::vector<std::string> columns = candidate_columns(names);
  const BestConfig* given = best_of(config);
  const std::string wanted = given ? given->metric : columns[config.metrics.empty() ? 0 : 1];
  const auto found = std::ranges::find(columns, wanted);
  TY_CHECK(found != columns.end(), "the run has no column '" + wanted + "' to select by");
  BestMetric rule{.metric = static_cast<int>(found - columns.begin()) - 1,
                  .min_delta = config.early_stop ? config.early_stop->min_delta : 0};
  const BestConfig::Mode mode = given ? given->mode : usual_mode(wanted);
  rule.larger_is_better = mode == BestConfig::Mode::max;
  return rule;
}

std::string best_metric_column(const BestMetric& best, std::span<const std::string> names) {
  return best.metric < 0 ? "val_loss" : "val_" + names[static_cast<std::size_t>(best.metric)];
}

}  // namespace trainyard
