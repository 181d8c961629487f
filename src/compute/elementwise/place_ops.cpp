#include "compute/elementwise/functor.h"
#include "compute/elementwise/functor_executor.h"
#include "launcher/launch.h"

namespace trainyard {

ExecutorPtr make_place_executor(const StepDescription& step) {
  return make_listed_executor<CpuFloats>(step, CpuLauncher(step.threads),
                                         static_cast<const PlaceList*>(nullptr));
}

}  // namespace trainyard
