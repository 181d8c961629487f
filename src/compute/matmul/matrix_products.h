// Products of plain matrices that are no op's: those of an optimizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "compute/executor.h"
#include "compute/matmul/product_shape.h"
#include "tensor/dtype.h"

namespace trainyard {

/// A product of one shape on one device, or a batch of them.
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
  /// Enqueues d = a * b. Neither allocates nor waits.
  virtual void run(const void* a, const void* b, void* d, void* workspace) const = 0;
};

/// Makes the products of a device, whose factory is one.
class MatrixProducts {
 public:
  virtual ~MatrixProducts() = default;
  /// A product of elements of `type`, f32, or f64 on the reference device. GPUs round f32 to TF32
  /// (10 bits of mantissa) and sum in f32. The bits do not depend on the number of threads.
  [[nodiscard]] virtual std::unique_ptr<MatrixProduct> make_matrix_product(
      const ProductShape& shape, DType type, int threads) const = 0;
};

[[nodiscard]] inline const MatrixProducts& matrix_products_of(const ExecutorFactory& executors) {
  const auto* products = dynamic_cast<const MatrixProducts*>(&executors);
  TY_CHECK(products != nullptr, "this device multiplies no matrices of optimizers");
  return *products;
}

/// A batch by a device's own products (recurrent_step.h) of elements T, one after the other.
template <class T, class Product>
class ProductsInTurn final : public MatrixProduct {
 public:
  ProductsInTurn(Product product, const ProductShape& shape)
      : product_(std::move(product)), shape_(shape) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return product_.workspace_bytes(); }
  void run(const void* a, const void* b, void* d, void* workspace) const override {
    for (std::int64_t i = 0; i < shape_.batch; ++i) {
      product_.run(static_cast<const T*>(a) + i * shape_.rows * shape_.depth,
                   static_cast<const T*>(b) + i * shape_.depth * shape_.columns,
                   static_cast<T*>(d) + i * shape_.rows * shape_.columns, workspace);
    }
  }

 private:
  Product product_;
  ProductShape shape_;
};

}  // namespace trainyard
