// Matrices for tensor cores, from shared memory.
#pragma once

#include <cstdint>

namespace trainyard {

/// Loads four matrices of 8 rows of 8 numbers of 16 bits, for a warp: lane l gives the address of
/// row l % 8 of matrix l / 8, of 16 bytes. A lane gets from each matrix numbers 2 * (l % 4) and the
/// next of row l / 4 or, with kTransposed, those of that column (PTX ISA, "ldmatrix").
template <bool kTransposed = false>
__device__ void load_matrices(std::uint32_t (&words)[4], const void* row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  }
}

}  // namespace trainyard
