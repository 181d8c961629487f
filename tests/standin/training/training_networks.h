// Networks that are trained on stand-in GPUs.
#pragma once

namespace trainyard::test {

/// Convolutions of every kind, residuals, batch norm and all poolings.
inline constexpr const char* kWideNetwork = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 10, kernel: 3, pad: same_upper, bias: false}
  - bn
  - relu
  - add:
      - [conv: {filters: 10, kernel: [3, 2], pad: same_upper, dilation: 2}, bn]
      - []
  - relu
  - conv: {filters: 12, kernel: 3, stride: 2, pad: same_upper, groups: 2}
  - conv: {filters: 12, kernel: 1}
  - avg_pool: {size: 2, stride: 1}
  - conv: {filters: 12, kernel: 2, pad: same_lower, groups: 12}
  - global_avg_pool
  - dense: {units: 9, bias: false}
  - relu
  - dense: 4
  - softmax
)";

/// Batch norms that are branches of concatenations: two, four of branches of different lengths, and
/// such as have no siblings.
inline constexpr const char* kBranchedNetwork = R"(
input: [3, 9, 7]
defaults: {conv: {bias: false, pad: same_upper}}
blocks:
  cbr: {args: [f, k], layers: [conv: {filters: $f, kernel: $k}, bn, relu]}
layers:
  - conv: {filters: 8, kernel: 3, bias: true}
  - concat: [[cbr: [8, 1]], [cbr: [16, 3]]]
  - concat:
      - [cbr: [8, 1]]
      - [cbr: [8, 1], cbr: [16, 3]]
      - [cbr: [8, 1], cbr: [24, 3], dropout: 0.1, cbr: [8, 2]]
      - [max_pool: {size: 3, stride: 1, pad: same_upper}, cbr: [8, 1]]
  - concat: [[cbr: [8, 1]], [max_pool: {size: 3, stride: 1, pad: same_upper}], [cbr: [8, 3]], [bn]]
  - global_avg_pool
  - dense: 4
  - softmax
)";

}  // namespace trainyard::test
