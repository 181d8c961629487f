#include "compute/norm/channels.h"

#include "compute/elementwise/functor.h"
#include "launcher/launch.h"
#include "tensor/dtype.h"

namespace trainyard {

ExecutorPtr make_channel_executor(const StepDescription& step) {
  if (ReferenceFloats::contain(step.storage)) return make_plain_channels(step);
  return CpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_channels_as<T>(step, CpuLauncher(step.threads));
  });
}

}  // namespace trainyard
