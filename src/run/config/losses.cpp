#include "run/config/losses.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "data/sets/sample_field.h"
#include "ops/loss.h"

namespace trainyard {

std::vector<std::shared_ptr<const LossOp>> losses_of(const RunConfig& run) {
  std::vector<std::shared_ptr<const LossOp>> losses{run.loss};
  losses.insert(losses.end(), run.heads.begin(), run.heads.end());
  return losses;
}

void check_heads(config::Fields& fields, const RunConfig& run) {
  std::set<std::string> outputs;  // losses on one output would have one column
  for (const auto& loss : losses_of(run)) {
    if (loss == nullptr || outputs.insert(loss->values().output).second) continue;
    const std::string& output = loss->values().output;
    fields.error("heads", "'heads' has a second loss on " +
                              (output.empty() ? "the last layer" : "output '" + output + "'") +
                              "; give each its own 'output'");
  }
  if (run.heads.size() < kMostLosses) return;
  fields.error("heads", fmt::format("'heads' has {} losses, expected at most {}", run.heads.size(),
                                    kMostLosses - 1));
}

void check_mix(config::Fields& fields, const RunConfig& run) {
  if (!run.data.mix) return;
  for (const auto& loss : losses_of(run)) {
    const bool takes =
        loss == nullptr || loss->type() == kCrossEntropy || loss->type() == kBinaryCrossEntropy;
    if (takes && (loss == nullptr || loss->values().target == kLabelField)) continue;
    fields.error("data", fmt::format("'mix' mixes labels, for cross_entropy or "
                                     "binary_cross_entropy; the run has a loss '{}' on '{}'",
                                     loss->type(), loss->values().target));
  }
}

void check_metrics(config::Fields& fields, const RunConfig& run) {
  std::set<std::string> columns;
  for (const auto& metric : run.metrics) {
    const std::string column = column_of(*metric);
    if (columns.insert(column).second) continue;
    fields.error("metrics", "'metrics' has two of the column '" + column + "'; leave one out");
  }
}

}  // namespace trainyard
