// The workspace that a convolution step leaves to its engine.
#include "exec/cudnn/conv_offsets.h"

#include <doctest/doctest.h>

#include "exec/cudnn/kernels.h"
#include "ops/conv.h"
#include "plan/layouts.h"

using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

constexpr std::size_t kCap = std::size_t{1} << 20;
// 16 to 24 channels by 3 x 3 taps.
constexpr std::size_t kWeights = 24 * 16 * 9;
// The sums of the bias's gradient take more than one piece: 2 x 128 x 128 rows of 24 channels.
const Layout kInput = channels_last_layout({2, 16, 128, 128}, 8);
const Layout kOutput = channels_last_layout({2, 24, 128, 128}, 8);

std::size_t taken(Pass pass, DType storage, bool bias) {
  ConvAttributes attributes;
  attributes.filters = 24;
  attributes.kernel = {3, 3};
  attributes.pad.kind = Padding::Kind::same_upper;
  attributes.bias = bias;
  const ConvOp op(attributes);
  const StepDescription step{
      .op = &op, .pass = pass, .storage = storage, .inputs = {kInput}, .outputs = {kOutput}};
  return kCap - conv_offsets(step, conv_graph(step), kCap).workspace.left();
}

}  // namespace

TEST_CASE("in the forward passes an engine may take what packed weights and a rounded bias leave") {
  const std::size_t weights = aligned_bytes(kWeights * 2), bias = aligned_bytes(24 * 2);
  for (const Pass pass : {Pass::forward_train, Pass::forward_eval}) {
    CHECK(taken(pass, DType::bf16, true) == weights + bias);
    CHECK(taken(pass, DType::bf16, false) == weights);
    CHECK(taken(pass, DType::f32, true) == aligned_bytes(kWeights * 4));
  }
}

TEST_CASE(
    "an engine may take what packed weights and a bias's sums leave, and everything for the "
    "input") {
  const std::size_t sums = aligned_bytes(bias_partial_bytes(ChannelRows(kOutput)));
  CHECK(sums > 0);
  for (const DType storage : {DType::bf16, DType::f32}) {
    const std::size_t weights = aligned_bytes(kWeights * size_of(storage));
    CHECK(taken(Pass::backward_parameters, storage, true) == weights + sums);
    CHECK(taken(Pass::backward_parameters, storage, false) == weights);
    CHECK(taken(Pass::backward_data, storage, true) == 0);
  }
}
