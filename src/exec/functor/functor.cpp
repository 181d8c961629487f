#include "exec/functor/functor.h"

#include "exec/functor/functor_executor.h"
#include "kernels/launch.h"
#include "ops/functor_ops.h"

namespace trainyard {

std::unique_ptr<Executor> make_functor_executor(const StepDescription& step) {
  return make_listed_executor(step, CpuLauncher(step.threads),
                              static_cast<const FunctorOps*>(nullptr));
}

}  // namespace trainyard
