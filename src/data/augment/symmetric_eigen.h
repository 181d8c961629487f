// Eigenvalues and eigenvectors of a symmetric matrix.
#pragma once

#include <cstdint>
#include <vector>

namespace trainyard {

struct SymmetricEigen {
  std::vector<double> values;   // [n], in no particular order
  std::vector<double> vectors;  // [n, n]: row i belongs to values[i], of length 1
};

/// Of a symmetric [n, n] matrix, n >= 1, whose memory is used up: Householder reflections to a
/// tridiagonal matrix, then QL steps with implicit shifts (EISPACK's tred2 and tql2; Numerical
/// Recipes, 11.3 and 11.4), whose rotations and reflections are applied to the vectors in parts
/// that fit the cache. Errors are of the order of 1e-15 times the largest eigenvalue. The result is
/// the same for any number of threads. Throws Error{data} if it does not converge (not finite).
[[nodiscard]] SymmetricEigen symmetric_eigen(std::vector<double> matrix, std::int64_t n,
                                             int threads);

}  // namespace trainyard
