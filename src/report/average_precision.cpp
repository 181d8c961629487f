#include "report/average_precision.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace trainyard {
std::optional<double> average_precision(std::vector<ScoredSample> samples) {
  if (std::ranges::any_of(samples, [](const auto& one) { return std::isnan(one.score); })) {
    return std::nullopt;
  }
  std::ranges::sort(samples, std::ranges::greater{}, &ScoredSample::score);
  double right = 0, sum = 0;
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    double of_class = 0;
    for (; end < samples.size() && samples[end].score == samples[begin].score; ++end) {
      if (samples[end].of_class) ++of_class;
    }
    right += of_class;
    sum += of_class * right / static_cast<double>(end);
  }
  if (right == 0) return std::nullopt;
  return sum / right;
}

std::optional<double> mean_average_precision(const SplitOutputs& outputs) {
  const std::vector<LogSum> sums = log_sums(outputs);
  if (outputs.classes == 2) return average_precision(scored_samples(outputs, sums, 1));
  return mean_of_defined(outputs.classes, [&](std::int64_t c) {
    return average_precision(scored_samples(outputs, sums, c));
  });
}

std::optional<double> mean_average_precision(std::span<const float> rows,
                                             std::span<const float> targets,
                                             const std::vector<bool>& counted) {
  const std::size_t width = rows.size() / counted.size();
  return mean_of_defined(static_cast<std::int64_t>(width), [&](std::int64_t c) {
    std::vector<ScoredSample> samples;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const std::size_t at = i * width + static_cast<std::size_t>(c);
      if (counted[i]) samples.push_back({rows[at], targets[at] > 0.5F});
    }
    return average_precision(std::move(samples));
  });
}

}  // namespace trainyard
