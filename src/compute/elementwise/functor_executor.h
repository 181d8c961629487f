// Executors of an op's functors, for any launcher.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "compute/elementwise/all.h"
#include "compute/elementwise/functor_step.h"
#include "compute/executor.h"

namespace trainyard {

/// Runs the functors of an op with elements of type T.
template <class Functors, class T, class Launcher>
class FunctorExecutor final : public Executor {
 public:
  FunctorExecutor(const Functors& functors, const FunctorStep& step, const Launcher& launcher)
      : functors_(functors), step_(step), launcher_(launcher) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    if constexpr (requires { functors_.template workspace_bytes<T>(step_); }) {
      return functors_.template workspace_bytes<T>(step_);
    }
    return 0;
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    if constexpr (requires { functors_.template reserve_bytes<T>(step_); }) {
      return step_.pass == Pass::forward_eval ? 0 : functors_.template reserve_bytes<T>(step_);
    }
    return 0;
  }
  void bind(const StepTensors& tensors) override { tensors_ = tensors; }
  void run() override { functors_.template run<T>(step_, tensors_, launcher_); }

 private:
  Functors functors_;
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

/// The executor of a step if its op is one of the Functors', else null. Floats are the storage
/// types that it is compiled for.
template <class Functors, class Floats, class Launcher>
[[nodiscard]] ExecutorPtr make_executor_of(const StepDescription& description,
                                           const Launcher& launcher) {
  if (std::ranges::find(Functors::kOps, description.op->type()) == Functors::kOps.end()) {
    return nullptr;
  }
  FunctorStep step{.pass = description.pass,
                   .node = description.node,
                   .walk = {},
                   .inputs = description.inputs,
                   .form = description.form};
  if constexpr (Functors::kElementwise) step.walk = walk_of(description);
  return Floats{}(description.storage, [&]<class T>(std::type_identity<T>) -> ExecutorPtr {
    return std::make_unique<FunctorExecutor<Functors, T, Launcher>>(
        Functors{{op_as<typename Functors::Op>(description)}}, step, launcher);
  });
}

/// The executor of a step whose op is in the list, else null.
template <class Floats, class Launcher, class... Ops>
[[nodiscard]] ExecutorPtr make_listed_executor(const StepDescription& step,
                                               const Launcher& launcher,
                                               const std::tuple<Ops...>* /*list*/) {
  ExecutorPtr executor;
  static_cast<void>(((executor = make_executor_of<Ops, Floats>(step, launcher)) || ...));
  return executor;
}

/// The executor of a functor op, else null. Floats are the storage types that it is compiled for.
template <class Floats, class Launcher>
[[nodiscard]] ExecutorPtr make_functor_executor_on(const StepDescription& step,
                                                   const Launcher& launcher) {
  const auto make = [&]<class List>(const List* list) {
    return make_listed_executor<Floats>(step, launcher, list);
  };
  auto executor = make(static_cast<const ActivationList*>(nullptr));
  if (executor == nullptr) executor = make(static_cast<const PlaceList*>(nullptr));
  if (executor == nullptr) executor = make(static_cast<const LossList*>(nullptr));
  return executor != nullptr ? std::move(executor) : make(static_cast<const OtherList*>(nullptr));
}

}  // namespace trainyard
