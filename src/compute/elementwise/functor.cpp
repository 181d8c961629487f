#include "compute/elementwise/functor.h"

#include <utility>

#include "compute/copy/copy_executors.h"
#include "compute/elementwise/functor_executor.h"
#include "launcher/launch.h"

namespace trainyard {

ExecutorPtr make_other_executor(const StepDescription& step) {
  return make_listed_executor<CpuFloats>(step, CpuLauncher(step.threads),
                                         static_cast<const OtherList*>(nullptr));
}

ExecutorPtr make_functor_executor(const StepDescription& step) {
  if (ReferenceFloats::contain(step.storage)) return make_plain_functor(step);
  ExecutorPtr executor = make_activation_executor(step);
  if (executor == nullptr) executor = make_place_executor(step);
  if (executor == nullptr) executor = make_loss_executor(step);
  return executor != nullptr ? std::move(executor) : make_other_executor(step);
}

ExecutorPtr make_functor_reorder(const Layout& from, DType from_type, const Layout& to,
                                 DType to_type, int threads) {
  return make_reorder_on(CpuLauncher(threads), from, from_type, to, to_type);
}

ExecutorPtr make_functor_accumulate(const Layout& from, const Layout& to, DType type, int threads) {
  return make_accumulate_on(CpuLauncher(threads), from, to, type);
}

}  // namespace trainyard
