// The shape of a matrix product that an op leaves to its device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard {

/// d = a * b, row-major without gaps: a is [rows, depth], b is [depth, columns]; each may be
/// transposed in memory. Sums are in the arithmetic type.
struct ProductShape {
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool a_transposed = false;   // memory holds [depth, rows]
  bool b_transposed = false;   // memory holds [columns, depth]
  std::size_t alignment = 16;  // bytes that all addresses are multiples of, at most 16
  std::int64_t batch = 1;      // products of matrices that follow one another in memory
};

}  // namespace trainyard
