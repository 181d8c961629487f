// The tensors that one step reads and writes, as passed to executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/layout.h"

namespace trainyard {

/// State of the run that kernels read. It is in the persistent arena, written by kernels and,
/// between steps, by copies on the queue, so that a captured step needs no host value.
struct StepState {
  std::int64_t step = 0;             // finished steps
  std::int64_t tried = 0;            // steps begun, withheld ones too: the schedule's position
  std::int64_t epoch = 0;            // finished epochs, for the random draws
  double rate = 0;                   // learning rate of this step
  double gradient_scale = 1;         // loss scale / (samples in the global batch * accumulation)
  double loss_scale = 1;             // keeps 16-bit gradients from underflowing
  std::int64_t good_steps = 0;       // finite steps since a dynamic loss scale last changed
  std::int64_t valid = 0;            // real samples in this batch (evaluation pads the last one)
  std::int64_t nonfinite_step = -1;  // first step with a non-finite gradient or loss, or -1
};

/// Per-batch data for ops with random draws; pointers into the persistent arena.
struct BatchContext {
  const std::int64_t* sample_index = nullptr;  // [n], index of each sample in its dataset
  const StepState* state = nullptr;
  std::uint64_t seed = 0;
  /// kColumnGroups numbers that are 0 between launches, in which those of a queue count their
  /// blocks (launcher/launch.h), for each sibling of a launch; queues that may overlap have their
  /// own. The CPU has none.
  std::uint32_t* finished = nullptr;
};

/// Tensors of a step in the order of the op's Signature. Null data = not needed (an input gradient
/// that is never read) or absent. Gradients have the layouts of their values; parameters,
/// statistics and their gradients are plain.
struct StepTensors {
  std::vector<TensorView> inputs = {};
  std::vector<TensorView> outputs = {};
  std::vector<TensorView> output_gradients = {};  // backward: read
  std::vector<TensorView> input_gradients = {};   // backward: written
  std::vector<TensorView> parameters = {};
  std::vector<TensorView> parameter_gradients = {};  // backward: overwritten
  std::vector<TensorView> running = {};              // read by forward_eval, or fixed
  std::vector<TensorView> batch_statistics = {};     // written by forward_train, read by backward
  void* reserve = nullptr;                           // from forward_train to backward
  void* workspace = nullptr;                         // only for this step
  BatchContext batch = {};
};

/// The output of an op with Contract::shared_gradient: the first input gradient with data. The
/// others, if present, are the same tensor.
[[nodiscard]] inline const TensorView& shared_gradient(const StepTensors& tensors) {
  std::size_t first = 0;
  while (first + 1 < tensors.input_gradients.size() &&
         tensors.input_gradients[first].data == nullptr) {
    ++first;
  }
  return tensors.input_gradients[first];
}

}  // namespace trainyard
