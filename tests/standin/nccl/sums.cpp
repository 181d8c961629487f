#include <cstring>

#include "base/half.h"
#include "order.h"

namespace standin::nccl {
namespace {

using trainyard::BFloat16;
using trainyard::Float16;

template <class T>
T added(T a, T b) {
  return a + b;
}
template <>
Float16 added(Float16 a, Float16 b) {
  return Float16(float(a) + float(b));
}
template <>
BFloat16 added(BFloat16 a, BFloat16 b) {
  return BFloat16(float(a) + float(b));
}

template <class T>
T element(const std::byte* from, std::uint64_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void sum_of(std::span<const std::byte* const> ranks, const Part& part, void* out) {
  const std::uint64_t size = ranks.size(), slice = (part.count + size - 1) / size;
  for (std::uint64_t i = 0; i < part.elements; ++i) {
    const std::uint64_t begin = (part.first + i) / slice + 1;
    T sum = element<T>(ranks[begin % size], i);
    for (std::uint64_t hop = 1; hop < size; ++hop) {
      sum = added(sum, element<T>(ranks[(begin + hop) % size], i));
    }
    std::memcpy(static_cast<std::byte*>(out) + i * sizeof(T), &sum, sizeof sum);
  }
}

}  // namespace

std::size_t bytes_of(ncclDataType_t type) {
  static constexpr std::size_t kBytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < ncclNumTypes ? kBytes[type] : 0;
}

bool can_sum(ncclDataType_t type) {
  return type == ncclInt32 || type == ncclFloat16 || type == ncclBfloat16 || type == ncclFloat32 ||
         type == ncclFloat64;
}

void sum_in_ring(ncclDataType_t type, std::span<const std::byte* const> ranks, const Part& part,
                 void* out) {
  switch (type) {
    case ncclInt32:
      return sum_of<std::uint32_t>(ranks, part, out);  // wraps around, like a GPU's addition
    case ncclFloat16:
      return sum_of<Float16>(ranks, part, out);
    case ncclBfloat16:
      return sum_of<BFloat16>(ranks, part, out);
    case ncclFloat32:
      return sum_of<float>(ranks, part, out);
    default:
      return sum_of<double>(ranks, part, out);
  }
}

}  // namespace standin::nccl
