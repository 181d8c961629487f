#include "product.h"

#include <cstring>
#include <vector>

#include "compute/matmul/reference_products.h"
#include "elements.h"
#include "stream.h"

namespace standin::cublaslt {
namespace {

using trainyard::DType;

std::optional<DType> type_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_32F:
      return DType::f32;
    case CUDA_R_16F:
      return DType::f16;
    case CUDA_R_16BF:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

std::size_t bytes_of(DType type) { return type == DType::f32 ? 4 : 2; }

bool is_sound(const Matrix& matrix) {
  return matrix.rows > 0 && matrix.columns > 0 && matrix.stride >= matrix.rows;
}

bool is_same(const Matrix& a, const Matrix& b) {
  return a.type == b.type && a.rows == b.rows && a.columns == b.columns && a.stride == b.stride &&
         a.batch() == b.batch() && a.offset() == b.offset();
}

/// cuBLASLt's table of types: sums in f32 of factors of one type, to that type or to f32.
bool fits_types(const Product& product) {
  return product.result == product.factors || product.result == DType::f32;
}

bool fits_extents(const Product& product, const Matrix& a, const Matrix& b) {
  return product.rows == (product.a_transposed ? a.columns : a.rows) &&
         product.depth == (product.b_transposed ? b.columns : b.rows) &&
         product.columns == (product.b_transposed ? b.rows : b.columns);
}

/// [rows, columns] of a BLAS matrix, or of its transpose, as a plain row-major array.
std::vector<float> load(const Product& product, void* memory, std::int64_t rows,
                        std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  std::vector<float> plain(static_cast<std::size_t>(rows * columns));
  with_elements(product.factors, memory, [&](const auto* from) {
    auto to = plain.begin();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column, ++to) {
        const auto value = static_cast<float>(from[row * row_stride + column * column_stride]);
        *to = product.tf32 ? rounded_to_tf32(value) : value;
      }
    }
  });
  return plain;
}

/// The reference device's dense layers see the transposed product, row-major: x = b^T, w = a^T.
/// In the forward pass, with transposed weights, each sum is separate and starts with the bias; the
/// gradients add weighted rows.
void add_up(const Product& product, const Addresses& addresses, const float* bias, float* sums) {
  using namespace trainyard::reference;
  const std::vector<float> x = load(product, addresses.b, product.columns, product.depth,
                                    product.b_transposed ? 1 : product.b_stride,
                                    product.b_transposed ? product.b_stride : 1);
  if (product.a_transposed) {
    const std::vector<float> w =
        load(product, addresses.a, product.rows, product.depth, product.a_stride, 1);
    const RowProducts<float> all{.out = sums,
                                 .a = x.data(),
                                 .b = w.data(),
                                 .bias = bias,
                                 .accumulate = false,
                                 .rows = product.columns,
                                 .count = product.rows,
                                 .length = product.depth};
    return for_rows(all.tiles(1), all);
  }
  const std::vector<float> w =
      load(product, addresses.a, product.depth, product.rows, product.a_stride, 1);
  const WeightedRows<float> all{.out = sums,
                                .terms = w.data(),
                                .weight = x.data(),
                                .bias = nullptr,
                                .rows = product.columns,
                                .count = product.depth,
                                .length = product.rows,
                                .row_stride = product.depth,
                                .term_stride = 1};
  for_rows(all.tiles(1), all);
}

std::size_t span_bytes(std::int64_t columns, std::int64_t rows, std::int64_t stride, DType type) {
  return static_cast<std::size_t>((columns - 1) * stride + rows) * bytes_of(type);
}

/// Overwrites the workspace before and after, so that data wrongly stored there is noticed.
void spoil_workspace(const Product& product, const Addresses& addresses) {
  if (addresses.workspace != nullptr) std::memset(addresses.workspace, 0xff, product.sum_bytes());
}

}  // namespace

std::uint64_t Product::key() const {
  std::uint64_t key = 0;
  for (const std::int64_t part :
       {rows, columns, depth, a_stride, b_stride, d_stride, std::int64_t{a_transposed},
        std::int64_t{b_transposed}, static_cast<std::int64_t>(factors),
        static_cast<std::int64_t>(result), std::int64_t{tf32}, std::int64_t{adds_bias},
        std::int64_t{batch}, a_offset, b_offset, d_offset}) {
    key = key * 1000003 + static_cast<std::uint64_t>(part);
  }
  return key;
}

std::size_t Product::sum_bytes() const {
  return static_cast<std::size_t>(rows * columns) * sizeof(float);
}

std::optional<Product> read_product(const Description& description, const Matrix& a,
                                    const Matrix& b, const Matrix& c, const Matrix& d) {
  const auto factors = type_of(a.type), result = type_of(d.type);
  if (!factors || !result || a.type != b.type || !is_same(c, d)) return std::nullopt;
  if (!is_sound(a) || !is_sound(b) || !is_sound(d)) return std::nullopt;
  if (a.batch() < 1 || a.batch() != b.batch() || a.batch() != d.batch()) return std::nullopt;
  const bool tf32 = description.sums == CUBLAS_COMPUTE_32F_FAST_TF32;
  if ((description.sums != CUBLAS_COMPUTE_32F && !tf32) || description.scale != CUDA_R_32F) {
    return std::nullopt;
  }
  const AttributeMap& said = description.attributes;
  // As integers: callers may have set any.
  const auto turn_a = said.get(CUBLASLT_MATMUL_DESC_TRANSA, int{CUBLAS_OP_N});
  const auto turn_b = said.get(CUBLASLT_MATMUL_DESC_TRANSB, int{CUBLAS_OP_N});
  const auto epilogue = said.get(CUBLASLT_MATMUL_DESC_EPILOGUE, int{CUBLASLT_EPILOGUE_DEFAULT});
  if (turn_a < 0 || turn_a > CUBLAS_OP_T || turn_b < 0 || turn_b > CUBLAS_OP_T) return std::nullopt;
  if (epilogue != CUBLASLT_EPILOGUE_DEFAULT && epilogue != CUBLASLT_EPILOGUE_BIAS) {
    return std::nullopt;
  }
  const Product product{.rows = d.rows,
                        .columns = d.columns,
                        .depth = turn_a == CUBLAS_OP_T ? a.rows : a.columns,
                        .a_stride = a.stride,
                        .b_stride = b.stride,
                        .d_stride = d.stride,
                        .a_transposed = turn_a == CUBLAS_OP_T,
                        .b_transposed = turn_b == CUBLAS_OP_T,
                        .factors = *factors,
                        .result = *result,
                        .tf32 = tf32 && *factors == DType::f32,
                        .adds_bias = epilogue == CUBLASLT_EPILOGUE_BIAS,
                        .batch = d.batch(),
                        .a_offset = a.offset(),
                        .b_offset = b.offset(),
                        .d_offset = d.offset()};
  // One of the two ways of summing starts with a bias.
  const bool begins_with_bias = product.a_transposed || !product.adds_bias;
  return fits_types(product) && fits_extents(product, a, b) && begins_with_bias
             ? std::optional(product)
             : std::nullopt;
}

Addresses of_batch(const Product& product, const Addresses& first, std::int32_t index) {
  const auto moved = [index](void* at, std::int64_t elements, DType type) -> void* {
    return static_cast<std::byte*>(at) +
           index * elements * static_cast<std::int64_t>(bytes_of(type));
  };
  Addresses own = first;
  own.a = moved(first.a, product.a_offset, product.factors);
  own.b = moved(first.b, product.b_offset, product.factors);
  own.d = moved(first.d, product.d_offset, product.result);
  return own;
}

bool is_in_device_memory(const Product& product, const Addresses& addresses) {
  const auto is_there = [](const void* at, std::size_t bytes) {
    return is_device_memory(at, bytes);
  };
  const std::size_t a =
      product.a_transposed
          ? span_bytes(product.rows, product.depth, product.a_stride, product.factors)
          : span_bytes(product.depth, product.rows, product.a_stride, product.factors);
  const std::size_t b =
      product.b_transposed
          ? span_bytes(product.depth, product.columns, product.b_stride, product.factors)
          : span_bytes(product.columns, product.depth, product.b_stride, product.factors);
  const std::size_t d = span_bytes(product.columns, product.rows, product.d_stride, product.result);
  const std::size_t bias = static_cast<std::size_t>(product.rows) * bytes_of(product.result);
  return is_there(addresses.a, a) && is_there(addresses.b, b) && is_there(addresses.d, d) &&
         (!product.adds_bias || is_there(addresses.bias, bias)) &&
         (addresses.workspace == nullptr || is_there(addresses.workspace, product.sum_bytes()));
}

void compute(const Product& product, const Addresses& addresses) {
  spoil_workspace(product, addresses);
  std::vector<float> on_host(addresses.workspace == nullptr ? product.sum_bytes() / sizeof(float)
                                                            : 0);
  float* const sums =
      addresses.workspace == nullptr ? on_host.data() : static_cast<float*>(addresses.workspace);
  std::vector<float> bias(static_cast<std::size_t>(product.adds_bias ? product.rows : 0));
  with_elements(product.result, addresses.bias, [&bias](const auto* from) {
    for (float& value : bias) value = static_cast<float>(*from++);
  });
  add_up(product, addresses, product.adds_bias ? bias.data() : nullptr, sums);
  with_elements(product.result, addresses.d, [&]<class T>(T* to) {
    const float* from = sums;
    for (std::int64_t column = 0; column < product.columns; ++column, to += product.d_stride) {
      for (std::int64_t row = 0; row < product.rows; ++row) {
        const float sum = *from++;
        // What is there is not read, and may be NaN, without beta.
        to[row] = T(product.beta == 0 ? sum : sum + product.beta * static_cast<float>(to[row]));
      }
    }
  });
  spoil_workspace(product, addresses);
}

}  // namespace standin::cublaslt
