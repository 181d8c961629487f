// The workspace that a convolution step leaves to its engine.
#include <doctest/doctest.h>

#include "compute/conv/cudnn/step_workspace.h"
#include "compute/devices/cuda/kernels.h"
#include "ops/convolution.h"
#include "plan/passes.h"

using namespace trainyard;
using namespace trainyard::cudnn;
using trainyard::cudnn::StepWorkspace;

namespace {

constexpr std::size_t kCap = std::size_t{1} << 20;
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
  return kCap - conv_offsets(step, kCap).workspace.left();
}

}  // namespace

TEST_CASE("an engine may take what a bias's sums leave, and everything where there are none") {
  const std::size_t sums = aligned_bytes(bias_partial_bytes(ChannelRows(kOutput)));
  CHECK(sums > 0);
  for (const DType storage : {DType::bf16, DType::f32}) {
    CHECK(taken(Pass::backward_parameters, storage, true) == sums);
    CHECK(taken(Pass::backward_parameters, storage, false) == 0);
    for (const Pass pass : {Pass::forward_train, Pass::forward_eval, Pass::backward_data}) {
      CHECK(taken(pass, storage, true) == 0);
    }
  }
}

TEST_CASE("the step's own slots come first, the library gets the rest of the cap") {
  StepWorkspace workspace(1024);
  CHECK(workspace.left() == 1024);
  CHECK(workspace.take(300) == 0);
  CHECK(workspace.left() == 512);
  CHECK(workspace.take_for_library(512) == 512);
  CHECK(workspace.used() == 1024);
}

TEST_CASE("a step whose own needs reach the cap leaves the library nothing, and still runs") {
  StepWorkspace workspace(1024);
  CHECK(workspace.take(5000) == 0);
  CHECK(workspace.left() == 0);
  CHECK(workspace.take_for_library(0) == 5120);
  CHECK(workspace.used() == 5120);
}

TEST_CASE("a cap that is not a multiple of the alignment is rounded down for the library") {
  StepWorkspace workspace(1000);
  CHECK(workspace.left() == 768);
}
