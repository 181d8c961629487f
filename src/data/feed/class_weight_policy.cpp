#include "data/feed/class_weight_policy.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

float ClassWeightPolicy::weight(std::int32_t label, float own) const {
  if (label == ignored) return 0;
  float result = own;
  if (!of_class.empty()) {
    const bool is_class = label >= 0 && label < std::ssize(of_class);
    result *= is_class ? of_class[static_cast<std::size_t>(label)] : 0;
  }
  return counts_only && result > 0 ? 1 : result;
}

ClassWeightPolicy ClassWeightPolicy::counting() const {
  ClassWeightPolicy rule = *this;
  rule.counts_only = true;
  return rule;
}

void require_weight(float own, const std::string& field, std::int64_t index) {
  if (std::isfinite(own) && own >= 0) return;
  throw Error(ErrorKind::data, "sample " + std::to_string(index) + " (from 0): '" + field +
                                   "' is " + number_text(own) +
                                   "; the weight of a sample is a number of at least 0");
}

std::vector<float> balanced_weights(std::span<const std::int32_t> labels, std::int64_t classes,
                                    std::optional<std::int32_t> ignored) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes), 0);
  std::int64_t all = 0;
  for (const std::int32_t label : labels) {
    if (label < 0 || label >= classes || label == ignored) continue;
    ++counts[static_cast<std::size_t>(label)];
    ++all;
  }
  std::vector<float> weights;
  for (const std::int64_t count : counts) {
    const double even = static_cast<double>(all) / static_cast<double>(classes);
    weights.push_back(count == 0 ? 0 : static_cast<float>(even / static_cast<double>(count)));
  }
  return weights;
}

}  // namespace trainyard
