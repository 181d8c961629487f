// Functor executors for types that the reference device stores and the CPU does not, in plain
// loops.
#include "compute/elementwise/functor.h"
#include "compute/elementwise/functor_executor.h"
#include "compute/norm/channels.h"
#include "launcher/launch.h"

namespace trainyard {

ExecutorPtr make_plain_functor(const StepDescription& step) {
  return make_functor_executor_on<ReferenceFloats>(step, PlainLauncher(step.threads));
}

ExecutorPtr make_plain_channels(const StepDescription& step) {
  return ReferenceFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_channels_as<T>(step, PlainLauncher(step.threads));
  });
}

}  // namespace trainyard
