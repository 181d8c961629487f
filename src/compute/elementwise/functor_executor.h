// Executors of functor ops, for any launcher.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include "compute/executor.h"
#include "ops/functor_step.h"

namespace trainyard {

/// Runs one functor op with elements of type T. The op is copied: it is small, and the description
/// need not outlive the executor.
template <class FunctorOp, class T, class Launcher>
class FunctorExecutor final : public Executor {
 public:
  FunctorExecutor(const FunctorOp& op, const FunctorStep& step, const Launcher& launcher)
      : op_(op), step_(step), launcher_(launcher) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    if constexpr (requires { op_.template workspace_bytes<T>(step_); }) {
      return op_.template workspace_bytes<T>(step_);
    }
    return 0;
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    if constexpr (requires { op_.template reserve_bytes<T>(step_); }) {
      return step_.pass == Pass::forward_eval ? 0 : op_.template reserve_bytes<T>(step_);
    }
    return 0;
  }
  void bind(const StepTensors& tensors) override { tensors_ = tensors; }
  void run() override { op_.template run<T>(step_, tensors_, launcher_); }

 private:
  FunctorOp op_;
  FunctorStep step_;
  Launcher launcher_;
  StepTensors tensors_;
};

/// The iteration over all inputs and outputs of a step.
[[nodiscard]] inline Walk walk_of(const StepDescription& step) {
  std::vector<Layout> layouts = step.inputs;
  layouts.insert(layouts.end(), step.outputs.begin(), step.outputs.end());
  return plan_walk(layouts);
}

/// The executor of a step if its op is a FunctorOp, else null. Floats are the storage types that it
/// is compiled for.
template <class FunctorOp, class Floats, class Launcher>
[[nodiscard]] std::unique_ptr<Executor> make_executor_of(const StepDescription& description,
                                                         const Launcher& launcher) {
  const auto* op = dynamic_cast<const FunctorOp*>(description.op);
  if (op == nullptr) return nullptr;
  FunctorStep step{.pass = description.pass,
                   .node = description.node,
                   .walk = {},
                   .inputs = description.inputs,
                   .form = description.form};
  if constexpr (FunctorOp::kElementwise) step.walk = walk_of(description);
  return Floats{}(
      description.storage, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Executor> {
        return std::make_unique<FunctorExecutor<FunctorOp, T, Launcher>>(*op, step, launcher);
      });
}

/// The executor of a step whose op is in the list, else null.
template <class Floats, class Launcher, class... Ops>
[[nodiscard]] std::unique_ptr<Executor> make_listed_executor(const StepDescription& step,
                                                             const Launcher& launcher,
                                                             const std::tuple<Ops...>* /*list*/) {
  std::unique_ptr<Executor> executor;
  static_cast<void>(((executor = make_executor_of<Ops, Floats>(step, launcher)) || ...));
  return executor;
}

}  // namespace trainyard
