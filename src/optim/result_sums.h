// Sums of results over a batch.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Results of a batch: values [samples, width], f32 or f64, or, without values, one 1 a sample.
struct ResultValues {
  const void* values = nullptr;
  DType type = DType::f32;
  std::int64_t width = 1;

  [[nodiscard]] TY_HD double at(std::int64_t sample, std::int64_t column) const {
    if (values == nullptr) return 1;
    const std::int64_t i = sample * width + column;
    return type == DType::f64 ? static_cast<const double*>(values)[i]
                              : static_cast<double>(static_cast<const float*>(values)[i]);
  }
};

/// Results that are summed in one launch, all of one batch.
struct ResultTable {
  static constexpr std::int64_t kMost = 16;
  ResultValues list[kMost];
  std::int64_t count = 0;            // length of the list
  std::int64_t samples = 0;          // samples of the batch, or all their positions
  std::int64_t positions = 1;        // positions of a sample
  const float* weights = nullptr;    // [samples]; null: all count
  const StepState* state = nullptr;  // number of valid samples

  /// The sum of the widths: the number of sums.
  [[nodiscard]] std::int64_t columns() const {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += list[i].width;
    return sum;
  }
};

/// A row is a column of the table: adds its sum over the samples that count to `totals`, in double
/// and in the Team's fixed order. Samples beyond state->valid, and those of weight 0, are excluded
/// by selection.
struct ResultSums {
  ResultTable table;
  double* totals;  // [table.columns()]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    std::int64_t which = 0, column = row;
    while (column >= table.list[which].width) column -= table.list[which++].width;
    const ResultValues values = table.list[which];
    const float* const weights = table.weights;
    const std::int64_t valid = table.state->valid * table.positions;
    const double sum = team.template sum<double>(table.samples, [=](std::int64_t i) {
      const bool counts = i < valid && (weights == nullptr || weights[i] != 0);
      return counts ? values.at(i, column) : 0.0;
    });
    double* const total = totals + row;
    team.once([=] { *total += sum; });
  }
};

}  // namespace trainyard
