// Eigenvalues and eigenvectors of a symmetric matrix.
#pragma once

#include <cstdint>
#include <vector>

namespace trainyard {

struct SymmetricEigen {
  std::vector<double> values;   // [n], increasing
  std::vector<double> vectors;  // [n, n]: row i belongs to values[i], of length 1
};

/// Of a symmetric [n, n] matrix, n >= 1, by Eigen in one thread. Errors are of the order of 1e-15
/// times the largest eigenvalue. Throws Error{data} if it does not converge (not finite).
[[nodiscard]] SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, std::int64_t n);

}  // namespace trainyard
