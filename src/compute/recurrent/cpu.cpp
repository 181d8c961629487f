// Recurrent layers on the CPU.
#include "compute/matmul/product.h"
#include "compute/recurrent/recurrent.h"
#include "launcher/launch.h"

namespace trainyard::product {
namespace {

/// Products of floats: those of rounded bf16 values are exact.
struct Products {
  using Factor = float;
  int threads;
  [[nodiscard]] Product make(const ProductShape& shape, std::size_t) const {
    return {shape, threads};
  }
};

}  // namespace

ExecutorPtr make_recurrent(const StepDescription& step) {
  const CpuLauncher launcher(step.threads);
  const Products products{step.threads};
  if (step.storage == DType::bf16) return make_recurrent_on<BFloat16>(step, launcher, products);
  return make_recurrent_on<float>(step, launcher, products);
}

}  // namespace trainyard::product
