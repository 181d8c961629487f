#include "compute/elementwise/functor.h"

#include <utility>

#include "compute/elementwise/functor_executor.h"
#include "launcher/launch.h"

namespace trainyard {

std::unique_ptr<Executor> make_other_executor(const StepDescription& step) {
  return make_listed_executor<CpuFloats>(step, CpuLauncher(step.threads),
                                         static_cast<const OtherList*>(nullptr));
}

std::unique_ptr<Executor> make_functor_executor(const StepDescription& step) {
  if (ReferenceFloats::contain(step.storage)) return make_plain_functor(step);
  std::unique_ptr<Executor> executor = make_activation_executor(step);
  if (executor == nullptr) executor = make_place_executor(step);
  if (executor == nullptr) executor = make_loss_executor(step);
  return executor != nullptr ? std::move(executor) : make_other_executor(step);
}

}  // namespace trainyard
