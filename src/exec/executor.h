// Executors: one pass of one node on one device, everything about shapes settled when built.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/launch.h"
#include "ops/op.h"
#include "ops/step_tensors.h"
#include "tensor/layout.h"

namespace trainyard {

/// What an executor is built from. Layouts are final, addresses are not known yet.
struct StepDescription {
  const Op* op = nullptr;
  Pass pass = Pass::forward_train;
  DType type = DType::f32;  // of activations and parameters
  Signature signature = {};
  std::vector<Layout> inputs = {};
  std::vector<Layout> outputs = {};
  std::vector<bool> wants_input_gradient = {};  // backward_data
  std::uint32_t node = 0;                       // index of the node in its graph: keys random draws
  int threads = 1;
};

/// Runs one step. After bind() neither allocates, looks up nor branches on shape.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Memory of this step alone.
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }
  /// Memory kept from forward_train to backward. The executors of one node agree on it.
  [[nodiscard]] virtual std::size_t reserve_bytes() const { return 0; }
  /// Fixes the addresses. Called once, before the first run.
  virtual void bind(const StepTensors& tensors) = 0;
  virtual void run() = 0;
};

/// Makes the executors of a device. An op that a device lacks does not link.
class ExecutorFactory {
 public:
  virtual ~ExecutorFactory() = default;
  [[nodiscard]] virtual std::unique_ptr<Executor> make(const StepDescription& step) const = 0;
  /// Copies inputs[0] to outputs[0] from one layout (and type) to another, padding zeroed.
  [[nodiscard]] virtual std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                               const Layout& to, DType to_type,
                                                               int threads) const = 0;
  /// Adds inputs[0] to outputs[0]; both have `layout`.
  [[nodiscard]] virtual std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                                  int threads) const = 0;
  /// The libraries that compute, with versions: "oneDNN 2.6.3"; empty if there are none.
  [[nodiscard]] virtual std::string libraries() const = 0;
};

/// oneDNN for library ops, functors for the rest. f32.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_cpu_executors();
/// Plain loops for library ops, functors for the rest. f32 or f64, any layouts.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_reference_executors();

}  // namespace trainyard
