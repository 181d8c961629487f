#include "compute/elementwise/functor_executor.h"
#include "compute/elementwise/parts.h"
#include "launcher/launch.h"
#include "ops/functor_ops.h"

namespace trainyard {

std::unique_ptr<Executor> make_place_executor(const StepDescription& step) {
  return make_listed_executor<CpuFloats>(step, CpuLauncher(step.threads),
                                         static_cast<const PlaceOps*>(nullptr));
}

}  // namespace trainyard
