// Networks of many ops, so that what must hold for each of them is checked once, and one whose
// layers share weights.
#pragma once

namespace trainyard::test {

/// An op that is in neither is in a network of tests/ops/*.yaml (cuda_plan_test.cpp). Reads maps
/// [3, 9, 7], gives 4 classes. Channels are not multiples of 8 or 4.
inline constexpr const char* kEveryOp = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 10, kernel: 3, pad: same_upper}
  - bn
  - relu
  - conv_transpose: {filters: 6, kernel: 3, stride: 2, pad: same_upper}
  - group_norm: 3
  - prelu
  - max_pool: 2
  - spatial_dropout: 0.1
  - drop_path: 0.1
  - gaussian_noise: 0.01
  - conv_transpose: {filters: 10, kernel: [3, 2], stride: [1, 2], groups: 2, pad: 0, output_pad: [0, 1], bias: false}
  - instance_norm
  - mish
  - crop: {top: 1, bottom: 1, left: 1}
  - avg_pool: {size: [1, 2]}
  - scale
  - add: [[layer_norm, swish], [lrn, hard_swish]]
  - multiply: [[sigmoid], []]
  - average: [[elu], [selu]]
  - maximum: [[gelu], [softmax]]
  - slice: [1, 9]
  - concat: [[leaky_relu], [softplus, tanh]]
  - pad: {right: 1}
  - upsample: {size: 2, mode: bilinear}
  - permute: [h, c, w]
  - reshape: [16, 18, 16]
  - conv: {filters: 6, kernel: 1}
  - add: [[hard_sigmoid], [softsign], [identity]]
  - concat: [[global_max_pool], [global_avg_pool]]
  - reshape: [4, 1, 3]
  - lstm: {units: 6, return_sequences: true, dropout: 0.1, recurrent_dropout: 0.1}
  - simple_rnn: {units: 5, return_sequences: true}
  - concat: [[pool_steps: maximum], [flatten]]
  - dropout: 0.1
  - dense: 4
  - softmax
)";

/// Every op of sequences. Reads 7 of 11 tokens, gives one of 11 classes for each position.
inline constexpr const char* kEverySequenceOp = R"(
input: {tokens: 7, vocabulary: 11}
layers:
  - concat: [[embedding: 6], [one_hot]]
  - dropout: 0.1
  - conv: {filters: 9, kernel: [1, 3], pad: same_upper}
  - layer_norm
  - tanh
  - dense: {units: 11, per_position: true}
  - softmax
)";

/// The same input and output, with tokens of 0 as padding: weights need the mask `tokens`.
inline constexpr const char* kMaskedSequence = R"(
input: {tokens: 7, vocabulary: 11}
layers:
  - embedding: {units: 6, mask_zero: true}
  - lstm: {units: 9, return_sequences: true, dropout: 0.1, recurrent_dropout: 0.1}
  - layer_norm
  - simple_rnn: {units: 8, return_sequences: true}
  - dense: {units: 11, per_position: true}
  - softmax
)";

/// Convolutions that share their weights. Reads maps [3, 9, 7], gives 4 classes.
inline constexpr const char* kSharedLayers = R"(
input: [3, 9, 7]
layers:
  - {conv: {filters: 3, kernel: 3, pad: same_upper}, as: first}
  - relu
  - {conv: {filters: 3, kernel: 3, pad: same_upper}, share: first}
  - {conv: {filters: 3, kernel: 3, stride: 2, pad: same_upper}, share: first}
  - dense: 4
  - softmax
)";

}  // namespace trainyard::test
