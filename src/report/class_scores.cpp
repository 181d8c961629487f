#include "report/class_scores.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

std::size_t width_of(const SplitOutputs& outputs) {
  return outputs.rows.size() / outputs.labels.size();
}

}  // namespace

std::vector<LogSum> log_sums(const SplitOutputs& outputs) {
  const std::size_t width = width_of(outputs);
  std::vector<LogSum> sums;
  if (width == 1 || !outputs.logits) return sums;
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    const std::span<const float> row = outputs.rows.subspan(i * width, width);
    const double top = *std::ranges::max_element(row);
    double others = 0;
    for (const float value : row) others += std::exp(value - top);
    sums.push_back({.top = top, .log_sum = std::log(others)});
  }
  return sums;
}

std::vector<ScoredSample> scored_samples(const SplitOutputs& outputs, std::span<const LogSum> sums,
                                         std::int64_t c) {
  const std::size_t width = width_of(outputs);
  std::vector<ScoredSample> samples;
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    if (outputs.labels[i] < 0) continue;
    double score = 0;
    if (width == 1) {
      score = c == 1 ? outputs.rows[i] : -outputs.rows[i];
    } else {
      score = outputs.rows[i * width + static_cast<std::size_t>(c)];
      if (!sums.empty()) score = score - sums[i].top - sums[i].log_sum;
    }
    samples.push_back({score, outputs.labels[i] == c});
  }
  return samples;
}

std::optional<double> mean_of_defined(
    std::int64_t count, const std::function<std::optional<double>(std::int64_t)>& value) {
  double sum = 0, defined = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::optional<double> one = value(i);
    if (!one) continue;
    sum += *one;
    ++defined;
  }
  if (defined == 0) return std::nullopt;
  return sum / defined;
}

}  // namespace trainyard
