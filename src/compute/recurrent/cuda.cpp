// Recurrent layers, with products of cuBLASLt between the steps' kernels.
#include <utility>

#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"

namespace trainyard::cudnn {
namespace {

class LtProduct final : public StreamProduct {
 public:
  LtProduct(cudaStream_t stream, Matmul product) : stream_(stream), product_(std::move(product)) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return product_.workspace_bytes(); }
  void run(const void* a, const void* b, float* d, void* workspace) const override {
    product_.run(stream_, a, b, d, workspace);
  }

 private:
  cudaStream_t stream_;
  Matmul product_;
};

class LtProducts final : public StreamProducts {
 public:
  LtProducts(ContextPtr context, const StepDescription& step)
      : context_(std::move(context)), factors_(step.storage), tf32_(step.tf32) {}
  [[nodiscard]] std::unique_ptr<StreamProduct> make(const ProductShape& shape,
                                                    std::size_t workspace_left) const override {
    const MatmulShape product{.rows = shape.rows,
                              .columns = shape.columns,
                              .depth = shape.depth,
                              .a_transposed = shape.a_transposed,
                              .b_transposed = shape.b_transposed,
                              .factors = factors_,
                              .tf32 = tf32_,
                              .alignment = static_cast<std::uint32_t>(shape.alignment)};
    return std::make_unique<LtProduct>(context_->stream(),
                                       Matmul(context_->matmul_library(), product, workspace_left));
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
