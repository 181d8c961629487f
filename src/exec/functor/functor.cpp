#include "exec/functor/functor.h"

#include "exec/functor/functor_executor.h"
#include "kernels/launch.h"
#include "ops/functor_ops.h"
#include "tensor/float_types.h"

namespace trainyard {

std::unique_ptr<Executor> make_functor_executor(const StepDescription& step) {
  const auto types = [](DType type, const auto& f) { return with_float_type(type, f); };
  return make_listed_executor(step, CpuLauncher(step.threads), types,
                              static_cast<const FunctorOps*>(nullptr));
}

}  // namespace trainyard
