#include "report/class_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace trainyard {
namespace {

std::size_t width_of(const SplitOutputs& outputs) {
  return outputs.rows.size() / outputs.labels.size();
}

/// What turns a row's logits x into log p = x - top - log_sum, which keeps apart what p would round
/// to 1.
struct LogSum {
  double top = 0, log_sum = 0;
};

/// Empty if the rows are probabilities, or a single output.
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

/// The counted samples with their score for class `c`: its probability, as a logarithm with `sums`,
/// or of a single output that, for class 0 its negative.
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

/// The mean of the values of 0 to count - 1 that are defined; empty if none is.
template <class Value>
std::optional<double> mean_of_defined(std::int64_t count, const Value& value) {
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
