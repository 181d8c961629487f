// Matrix products: which ones are supported, and their sums in the reference device's order.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "objects.h"
#include "tensor/dtype.h"

namespace standin::cublaslt {

/// d = a * b (+ bias) + beta * d of matrices stored column by column, as in BLAS: a is [rows,
/// depth], b is [depth, columns], d is [rows, columns].
struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::int64_t a_stride = 0, b_stride = 0, d_stride = 0;
  bool a_transposed = false, b_transposed = false;
  trainyard::DType factors = trainyard::DType::f32, result = trainyard::DType::f32;
  bool tf32 = false;       // f32 factors are rounded to TF32
  bool adds_bias = false;  // [rows], of the result's type
  std::int32_t batch = 1;  // products, whose matrices are so many elements apart:
  std::int64_t a_offset = 0, b_offset = 0, d_offset = 0;
  float beta = 0;  // factor of what is there; no part of the algorithm

  /// A number that identifies the product, stored in algorithms.
  [[nodiscard]] std::uint64_t key() const;
  /// Size of the sums, as floats.
  [[nodiscard]] std::size_t sum_bytes() const;
};

/// The product that the descriptions specify; empty if they do not match or need something that the
/// stand-in does not support.
[[nodiscard]] std::optional<Product> read_product(const Description& description, const Matrix& a,
                                                  const Matrix& b, const Matrix& c,
                                                  const Matrix& d);

struct Addresses {
  void* a = nullptr;
  void* b = nullptr;
  void* d = nullptr;
  void* bias = nullptr;
  void* workspace = nullptr;  // for the sums; null: in host memory
};

/// The addresses of one product of a batch, counted from 0.
[[nodiscard]] Addresses of_batch(const Product& product, const Addresses& first,
                                 std::int32_t index);
/// Whether all memory of the product is device memory.
[[nodiscard]] bool is_in_device_memory(const Product& product, const Addresses& addresses);
void compute(const Product& product, const Addresses& addresses);

}  // namespace standin::cublaslt
