// Copies and sums between layouts.
#include "compute/copy/copy_executors.h"
#include "compute/elementwise/functor.h"
#include "launcher/launch.h"

namespace trainyard {

std::unique_ptr<Executor> make_functor_reorder(const Layout& from, DType from_type,
                                               const Layout& to, DType to_type, int threads) {
  return make_reorder_on(CpuLauncher(threads), from, from_type, to, to_type);
}

std::unique_ptr<Executor> make_functor_accumulate(const Layout& from, const Layout& to, DType type,
                                                  int threads) {
  return make_accumulate_on(CpuLauncher(threads), from, to, type);
}

}  // namespace trainyard
