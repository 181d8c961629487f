// Sums of the data of a group's ranks.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace standin::nccl {

/// Bytes of an element; 0 for an invalid type.
[[nodiscard]] std::size_t bytes_of(ncclDataType_t type);
/// Whether the stand-in sums this type.
[[nodiscard]] bool can_sum(ncclDataType_t type);

/// Elements of a whole sum that are added now.
struct Part {
  std::uint64_t first = 0, elements = 0;
  std::uint64_t count = 0;  // of the whole
};

/// out[i] = the sum of ranks[...][i], in the order of a ring: the whole is divided into as many
/// slices as there are ranks, and slice s starts with rank s + 1 and goes round to rank s. As in a
/// ring of NCCL, every addition is rounded to the type (reduce_kernel.h). So the bits are the same
/// in every run and on every rank, and differ from those of a tree from four ranks on.
void sum_in_ring(ncclDataType_t type, std::span<const std::byte* const> ranks, const Part& part,
                 void* out);

}  // namespace standin::nccl
