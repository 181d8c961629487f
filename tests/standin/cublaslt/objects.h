// The objects behind cuBLASLt's handles. Descriptions are maps from attributes to bytes: cuBLASLt
// checks sizes when they are set, and contents when an algorithm is requested.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

namespace standin::cublaslt {

/// Attributes by number.
class AttributeMap {
 public:
  /// Whether `bytes` is the attribute's size; if so, the value is stored.
  [[nodiscard]] bool set(int name, std::size_t expected, const void* value, std::size_t bytes) {
    if (value == nullptr || expected == 0 || bytes != expected) return false;
    const auto* const from = static_cast<const std::byte*>(value);
    values_[name] = std::vector(from, from + bytes);
    return true;
  }
  template <class T>
  [[nodiscard]] T get(int name, T otherwise) const {
    const auto found = values_.find(name);
    if (found != values_.end()) std::memcpy(&otherwise, found->second.data(), sizeof otherwise);
    return otherwise;
  }

 private:
  std::map<int, std::vector<std::byte>> values_;
};

struct Handle {
  int device;
};

struct Description {
  cublasComputeType_t sums;
  cudaDataType_t scale;
  AttributeMap attributes = {};
};

/// Columns are `stride` elements apart, and the matrices of a batch as its attributes say.
struct Matrix {
  cudaDataType_t type;
  std::int64_t rows, columns, stride;
  AttributeMap attributes = {};

  [[nodiscard]] std::int32_t batch() const {
    return attributes.get(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{1});
  }
  [[nodiscard]] std::int64_t offset() const {
    return attributes.get(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{0});
  }
};

struct Preference {
  AttributeMap attributes = {};
};

/// Bytes of an attribute; 0 for one that is not supported here.
[[nodiscard]] std::size_t size_of(cublasLtMatmulDescAttributes_t name);
[[nodiscard]] std::size_t size_of(cublasLtMatmulPreferenceAttributes_t name);
[[nodiscard]] std::size_t size_of(cublasLtMatrixLayoutAttribute_t name);

}  // namespace standin::cublaslt
