// Any product of the reference device.
#pragma once

#include <cstddef>

#include "compute/matmul/product_shape.h"
#include "compute/matmul/reference_products.h"
#include "launcher/launch.h"

namespace trainyard::reference {

/// Plain loops. Factors are rounded to the storage type and stored in the arithmetic one.
template <class A>
class LoopProduct {
 public:
  LoopProduct(const CpuLauncher& launcher, const ProductShape& shape)
      : launcher_(launcher), shape_(shape) {}
  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }
  void run(const A* a, const A* b, A* d, void* /*workspace*/) const {
    if (shape_.b_transposed) {
      const RowProducts<A> product{.out = d,
                                   .a = a,
                                   .b = b,
                                   .bias = nullptr,
                                   .accumulate = false,
                                   .rows = shape_.rows,
                                   .count = shape_.columns,
                                   .length = shape_.depth};
      launcher_.rows(product.tiles(1), product);
    } else {
      const WeightedRows<A> product{.out = d,
                                    .terms = b,
                                    .weight = a,
                                    .bias = nullptr,
                                    .rows = shape_.rows,
                                    .count = shape_.depth,
                                    .length = shape_.columns,
                                    .row_stride = shape_.a_transposed ? 1 : shape_.depth,
                                    .term_stride = shape_.a_transposed ? shape_.rows : 1};
      launcher_.rows(product.tiles(1), product);
    }
  }

 private:
  CpuLauncher launcher_;
  ProductShape shape_;
};

}  // namespace trainyard::reference
