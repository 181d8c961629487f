// Small networks whose plans differ between devices: every kind of reorder, padding and fusion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/executor.h"
#include "every_op.h"
#include "small_training.h"

namespace trainyard::test {

/// Channels are not multiples of 8 or 4, windows are padded, strided, dilated and grouped.
inline const std::vector<std::string> kPlannedNetworks = {
    R"(
input: [3, 13, 11]
layers:
  - conv: {filters: 10, kernel: 3, stride: [2, 1], pad: same_upper}
  - bn
  - relu
  - add: [[conv: {filters: 10, kernel: 3, pad: 1}, bn], []]
  - relu
  - concat: [[conv: [5, 1]], [conv: {filters: 7, kernel: 3, pad: 1}, bn, relu], []]
  - max_pool: {size: 3, stride: 2, pad: 1}
  - dropout: 0.25
  - conv: {filters: 6, kernel: 3, pad: 2, dilation: 2, groups: 2}
  - tanh
  - dense: 9
  - bn
  - relu
  - dense: 4
  - softmax
)",
    R"(
input: [5, 9, 9]
layers:
  - conv: {filters: 12, kernel: 3, groups: 1, bias: false}
  - bn
  - leaky_relu: 0.1
  - average: [[avg_pool: {size: 2, stride: 2, ceil: true}], [conv: {filters: 12, kernel: 1, stride: 2, pad: 0}]]
  - multiply: [[sigmoid], []]
  - concat: [[max_pool: {size: 2, stride: 1}], [avg_pool: {size: 2, stride: 1}], [conv: {filters: 3, kernel: 2}]]
  - global_avg_pool
  - dropout: 0.1
  - dense: 3
  - softmax
)",
    R"(
input: [3, 8, 8]
layers:
  - conv: {filters: 16, kernel: 3, pad: 1}
  - add: [[conv: {filters: 16, kernel: 3, pad: 1}, bn], []]
  - relu
  - add: [[conv: {filters: 16, kernel: 3, pad: 1}, bn], [conv: {filters: 16, kernel: 1}, bn]]
  - relu
  - concat: [[conv: {filters: 8, kernel: 1}, bn, relu], [conv: {filters: 16, kernel: 3, pad: 1}, tanh], [max_pool: {size: 3, stride: 1, pad: 1}]]
  - concat: [[bn, relu], [avg_pool: {size: 3, stride: 1, pad: 1}]]
  - global_avg_pool
  - dense: 3
  - softmax
)",
    R"(
input: [3, 8, 8]
layers:
  - conv: {filters: 10, kernel: 3, pad: 1}
  - relu
  - max_pool: {size: 2, stride: 2}
  - conv_transpose: {filters: 6, kernel: 2, stride: 2}
  - relu
  - dense: 12
  - relu
  - dense: 3
  - softmax
)", kSharedLayers, kEveryOp, kEverySequenceOp};
inline constexpr std::int64_t kPlannedBatch = 12;

/// Ten steps on the reference device.
[[nodiscard]] inline Trained train(const TrainingGraph& graph, const Target& target) {
  return train_ten_steps(graph, target, *make_reference_executors());
}

}  // namespace trainyard::test
