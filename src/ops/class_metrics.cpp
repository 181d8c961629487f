#include "ops/class_metrics.h"

#include "ops/loss.h"

namespace trainyard {

ClassCounts counts_of_class(std::span<const double> sums, std::int64_t index) {
  const std::size_t classes = sums.size() / 3, at = static_cast<std::size_t>(index);
  return {.right = sums[at], .predicted = sums[classes + at], .labelled = sums[2 * classes + at]};
}

double mean_over_classes(std::span<const double> sums, double (*ratio)(const ClassCounts&)) {
  const auto classes = static_cast<std::int64_t>(sums.size() / 3);
  double total = 0;
  std::int64_t present = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    const ClassCounts counts = counts_of_class(sums, c);
    if (counts.predicted + counts.labelled == 0) continue;
    total += ratio(counts);
    ++present;
  }
  return present > 0 ? total / static_cast<double>(present) : 0;
}

Signature infer_class_counts(std::string_view op, std::span<const Shape> inputs) {
  Signature signature = infer_per_row(op, inputs, 1);
  const std::int64_t outputs = inputs[0].c();
  signature.outputs[0] = {inputs[1].elements(), 3 * (outputs == 1 ? 2 : outputs)};
  return signature;
}

}  // namespace trainyard
