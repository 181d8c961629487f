#include "compute/devices/reference_executors.h"
#include "compute/matmul/loop_product.h"
#include "compute/recurrent/recurrent.h"
#include "tensor/dtype.h"

namespace trainyard::reference {
namespace {

template <class A>
struct LoopProducts {
  using Factor = A;
  CpuLauncher launcher;
  [[nodiscard]] LoopProduct<A> make(const ProductShape& shape, std::size_t) const {
    return {launcher, shape};
  }
};

}  // namespace

template <class A>
ExecutorPtr make_recurrent(const StepDescription& step) {
  const CpuLauncher launcher(step.threads);
  return with_float_type(step.storage, [&]<class T>(std::type_identity<T>) -> ExecutorPtr {
    if constexpr (std::is_same_v<Arithmetic<T>, A>) {
      return make_recurrent_on<T>(step, launcher, LoopProducts<A>{launcher});
    }
    return nullptr;
  });
}

template ExecutorPtr make_recurrent<float>(const StepDescription&);
template ExecutorPtr make_recurrent<double>(const StepDescription&);

}  // namespace trainyard::reference
