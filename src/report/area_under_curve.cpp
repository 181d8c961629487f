#include "report/area_under_curve.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/class_scores.h"

namespace trainyard {
namespace {

std::optional<double> area_of(std::vector<ScoredSample> samples) {
  if (std::ranges::any_of(samples, [](const ScoredSample& one) { return std::isnan(one.score); })) {
    return std::nullopt;
  }
  std::ranges::sort(samples, {}, &ScoredSample::score);
  // Twice the number of pairs in the right order: whole numbers, exact in double.
  double pairs = 0, below = 0, own = 0;
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    double equal_own = 0, equal_other = 0;
    for (; end < samples.size() && samples[end].score == samples[begin].score; ++end) {
      (samples[end].of_class ? equal_own : equal_other) += 1;
    }
    pairs += equal_own * (2 * below + equal_other);
    below += equal_other;
    own += equal_own;
  }
  if (own == 0 || below == 0) return std::nullopt;
  return pairs / (2 * own * below);
}

}  // namespace

std::optional<double> area_under_curve(const SplitOutputs& outputs, std::int64_t c) {
  return area_of(scored_samples(outputs, log_sums(outputs), c));
}

std::optional<double> mean_area_under_curve(const SplitOutputs& outputs) {
  if (outputs.classes == 2) return area_under_curve(outputs, 1);
  const std::vector<LogSum> sums = log_sums(outputs);
  return mean_of_defined(outputs.classes,
                         [&](std::int64_t c) { return area_of(scored_samples(outputs, sums, c)); });
}

}  // namespace trainyard
