// Recurrent layers, with products of cuBLASLt between the steps' kernels.
#include <utility>

#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"

namespace trainyard::cudnn {
namespace {

class LtProducts final : public StreamProducts {
 public:
  LtProducts(ContextPtr context, const StepDescription& step)
      : context_(std::move(context)), factors_(step.storage), tf32_(step.tf32) {}
  [[nodiscard]] std::unique_ptr<MatrixProduct> make(const ProductShape& shape,
                                                    std::size_t workspace_left) const override {
    return make_matrix_product(context_, shape, factors_, tf32_, workspace_left);
  }

 private:
  ContextPtr context_;
  DType factors_;
  bool tf32_;
};

}  // namespace

std::unique_ptr<Executor> make_recurrent(const ContextPtr& context, const StepDescription& step) {
  return make_recurrent_on(context->stream(), std::make_shared<LtProducts>(context, step), step);
}

}  // namespace trainyard::cudnn
