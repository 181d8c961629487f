#include "report/area_under_curve.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace trainyard {
namespace {

struct Scored {
  double score = 0;
  bool of_class = false;
};

/// Of each row: what turns its logits x into log p = x - top - log_sum, which keeps apart what p
/// would round to 1.
struct LogSum {
  double top = 0, log_sum = 0;
};

std::size_t width_of(const SplitOutputs& outputs) {
  return outputs.rows.size() / outputs.labels.size();
}

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

std::vector<Scored> scored_samples(const SplitOutputs& outputs, std::span<const LogSum> sums,
                                   std::int64_t c) {
  const std::size_t width = width_of(outputs);
  std::vector<Scored> samples;
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

std::optional<double> area_of(std::vector<Scored> samples) {
  if (std::ranges::any_of(samples, [](const Scored& one) { return std::isnan(one.score); })) {
    return std::nullopt;
  }
  std::ranges::sort(samples, {}, &Scored::score);
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
  double sum = 0;
  std::int64_t defined = 0;
  for (std::int64_t c = 0; c < outputs.classes; ++c) {
    const std::optional<double> area = area_of(scored_samples(outputs, sums, c));
    if (!area) continue;
    sum += *area;
    ++defined;
  }
  if (defined == 0) return std::nullopt;
  return sum / static_cast<double>(defined);
}

}  // namespace trainyard
