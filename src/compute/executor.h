// Executors: one pass of one node on one device, with everything about shapes settled when built.
//
// The folder compute holds the arithmetic of ops by what is computed, with the implementations of
// all devices side by side (table.h lists them); devices/ has the devices' factories. An executor
// knows its step and nothing of plans, programs or training.
//
// Choices by timing are data. On a GPU cuDNN proposes engines, conv/cudnn/engines.h refuses
// some by declared properties (not deterministic, reduced precision, too much workspace), and the
// rest are timed in replays; on the CPU conv/winograd/algorithms.h chooses. Rank 0 chooses for all,
// and the run stores the choices.
//
// A gradient that is added to another is of an engine that adds (beta = 1); if none is left, a
// kernel of ours adds what another engine leaves in the workspace; the choice records which.
// Weights that a GPU reads in another type and order are packed by one launch after every change
// (weight_packing.h).
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "launcher/launch.h"
#include "ops/op.h"
#include "ops/step_form.h"
#include "ops/step_tensors.h"
#include "tensor/layout.h"

namespace trainyard {

class Device;
class Queue;
class StatisticsSum;

/// What an executor is built from. Layouts are final, addresses are not known yet.
struct StepDescription {
  const Op* op = nullptr;
  Pass pass = Pass::forward_train;
  /// Type of activations and their gradients: f64, f32, bf16 or f16. Parameters, their gradients
  /// and statistics are arithmetic_of(storage), and so are the outputs of an op whose traits set
  /// arithmetic_outputs. Weights of convolutions and dense layers are rounded to `storage` before
  /// they are multiplied; products are summed in the arithmetic type.
  DType storage = DType::f32;
  bool tf32 = false;  // products of f32 may round their factors to TF32 (10 bits of mantissa)
  Signature signature = {};
  std::vector<Layout> inputs = {};
  std::vector<Layout> outputs = {};
  std::vector<bool> needs_input_gradient = {};  // backward_data
  StepForm form = {};
  std::uint32_t node = 0;  // index of the node in its graph: keys random draws
  int threads = 1;
  /// Bytes of workspace of step and library: the step takes what it needs, the library the rest.
  std::size_t workspace_cap = std::numeric_limits<std::size_t>::max();
  /// For ops whose training passes span the batches of all replicas (`bn: {sync: true}`). Null:
  /// there is one replica. Must outlive the executor.
  StatisticsSum* statistics_sum = nullptr;
};

/// The op of a step, whose class follows from its name (compute/table.h).
template <class OpType>
[[nodiscard]] const OpType& op_as(const StepDescription& step) {
  const auto* op = dynamic_cast<const OpType*>(step.op);
  TY_CHECK(op != nullptr, step.op->type());
  return *op;
}

/// How an executor computes a product, for `train bench --layers`.
struct Algorithm {
  std::string name;       // "oneDNN jit:avx512_core"; empty: the op has one form of ours
  double operations = 1;  // executed, over those of the direct form: below 1 for Winograd's
};

/// Runs one step. After bind() it neither allocates, looks up nor branches on shape.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Memory of this step alone.
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }
  /// Memory kept from forward_train to backward. The executors of a node agree on its size.
  [[nodiscard]] virtual std::size_t reserve_bytes() const { return 0; }
  /// Fixes the addresses. Called once, before the first run.
  virtual void bind(const StepTensors& tensors) = 0;
  virtual void run() = 0;
  /// True if from now on this run() does `next`'s work too, in its own launches, and `next` itself
  /// is only bound. Called before bind(); both work on tensors of their own.
  [[nodiscard]] virtual bool add_sibling(const Executor& /*next*/) { return false; }
  [[nodiscard]] virtual Algorithm algorithm() const { return {}; }
};

using ExecutorPtr = std::unique_ptr<Executor>;

/// The executor of a step's pass, made of the arguments.
template <class Forward, class BackwardData, class BackwardParameters, class... Arguments>
[[nodiscard]] ExecutorPtr make_pass(Pass pass, const Arguments&... arguments) {
  if (pass == Pass::backward_data) return std::make_unique<BackwardData>(arguments...);
  if (pass == Pass::backward_parameters) return std::make_unique<BackwardParameters>(arguments...);
  return std::make_unique<Forward>(arguments...);
}

/// The queues of a device's executors, which outlive those.
struct StepQueues {
  Device& device;
  Queue& main;
  Queue& side;  // StepQueue::side
};

/// Makes the executors of a device (compute/table.h).
class ExecutorFactory {
 public:
  virtual ~ExecutorFactory() = default;
  [[nodiscard]] virtual ExecutorPtr make(const StepDescription& step) const = 0;
  /// Copies inputs[0] to outputs[0] from one layout (and type) to another, padding zeroed.
  [[nodiscard]] virtual ExecutorPtr make_reorder(const Layout& from, DType from_type,
                                                 const Layout& to, DType to_type,
                                                 int threads) const = 0;
  /// Adds inputs[0] to outputs[0]; both have `layout`.
  [[nodiscard]] virtual ExecutorPtr make_accumulate(const Layout& layout, DType type,
                                                    int threads) const = 0;
  /// Where steps may overlap; null: all run on one queue.
  [[nodiscard]] virtual const StepQueues* queues() const { return nullptr; }
  /// The libraries that compute, with versions: "oneDNN 2.6.3"; empty if there are none.
  [[nodiscard]] virtual std::string libraries() const = 0;
  /// What was chosen by timing for the executors so far, as a JSON object; "{}" if nothing was.
  /// Results are bit-identical only with the same choices, so a run stores them.
  [[nodiscard]] virtual std::string choices() const { return "{}"; }
};

/// oneDNN for convolutions, functors and own products for the rest. Stored in f32 or bf16.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_cpu_executors();
/// Plain loops for library ops, functors for the rest. Stored in f64, f32, bf16 or f16, any
/// layouts.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_reference_executors();

}  // namespace trainyard
