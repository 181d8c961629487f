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

/// Logits are ranked by log p = x_c - log(sum of e^x), which keeps apart what p would round to 1.
double score_of(std::span<const float> row, const SplitOutputs& outputs, std::int64_t c) {
  if (row.size() == 1) return c == 1 ? row[0] : -row[0];
  const double own = row[static_cast<std::size_t>(c)];
  if (!outputs.logits) return own;
  const double top = *std::ranges::max_element(row);
  double others = 0;
  for (const float value : row) others += std::exp(value - top);
  return own - top - std::log(others);
}

std::vector<Scored> scored_samples(const SplitOutputs& outputs, std::int64_t c) {
  const std::size_t width = outputs.rows.size() / outputs.labels.size();
  std::vector<Scored> samples;
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    if (outputs.labels[i] < 0) continue;
    samples.push_back(
        {score_of(outputs.rows.subspan(i * width, width), outputs, c), outputs.labels[i] == c});
  }
  return samples;
}

}  // namespace

std::optional<double> area_under_curve(const SplitOutputs& outputs, std::int64_t c) {
  std::vector<Scored> samples = scored_samples(outputs, c);
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

}  // namespace trainyard
