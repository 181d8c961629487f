// Recurrent layers, with products of cuBLASLt between the steps' kernels.
#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"

namespace trainyard::cudnn {

ExecutorPtr make_recurrent(const ContextPtr& context, const StepDescription& step) {
  const auto make_product = [context, factors = step.storage, tf32 = step.tf32](
                                const ProductShape& shape, std::size_t cap) {
    return make_matrix_product(context, shape, factors, tf32, cap);
  };
  return make_recurrent_on(context->stream(), make_product, step);
}

}  // namespace trainyard::cudnn
