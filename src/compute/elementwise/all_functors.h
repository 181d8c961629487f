// Executors of the functor ops of all lists, for launchers whose lists are compiled together.
#pragma once

#include <memory>
#include <utility>

#include "compute/elementwise/functor_executor.h"
#include "ops/functor_ops.h"

namespace trainyard {

/// The executor of a functor op, else null. Floats are the storage types that it is compiled for.
template <class Floats, class Launcher>
[[nodiscard]] std::unique_ptr<Executor> make_functor_executor_on(const StepDescription& step,
                                                                 const Launcher& launcher) {
  const auto make = [&]<class List>(const List* list) {
    return make_listed_executor<Floats>(step, launcher, list);
  };
  auto executor = make(static_cast<const ActivationOpsOf<Activations>::Types*>(nullptr));
  if (executor == nullptr) executor = make(static_cast<const PlaceOps*>(nullptr));
  if (executor == nullptr) executor = make(static_cast<const LossOps*>(nullptr));
  return executor != nullptr ? std::move(executor)
                             : make(static_cast<const OtherFunctorOps*>(nullptr));
}

}  // namespace trainyard
