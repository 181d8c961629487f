// Products of plain matrices on a stream.
#include <utility>

#include "compute/devices/cuda/context.h"

namespace trainyard::cudnn {
namespace {

class LtProduct final : public MatrixProduct {
 public:
  LtProduct(cudaStream_t stream, Matmul product) : stream_(stream), product_(std::move(product)) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return product_.workspace_bytes(); }
  void run(const void* a, const void* b, void* d, void* workspace) const override {
    product_.run(stream_, a, b, d, workspace);
  }

 private:
  cudaStream_t stream_;
  Matmul product_;
};

}  // namespace

std::unique_ptr<MatrixProduct> make_matrix_product(const ContextPtr& context,
                                                   const ProductShape& shape, DType factors,
                                                   bool tf32, std::size_t workspace_cap) {
  const MatmulShape product{.rows = shape.rows,
                            .columns = shape.columns,
                            .depth = shape.depth,
                            .a_transposed = shape.a_transposed,
                            .b_transposed = shape.b_transposed,
                            .factors = factors,
                            .tf32 = tf32,
                            .alignment = static_cast<std::uint32_t>(shape.alignment),
                            .batch = static_cast<std::int32_t>(shape.batch)};
  return std::make_unique<LtProduct>(context->stream(),
                                     Matmul(context->matmul_library(), product, workspace_cap));
}

}  // namespace trainyard::cudnn
