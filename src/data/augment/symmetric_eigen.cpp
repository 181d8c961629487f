#include "data/augment/whitening.h"

#define EIGEN_DONT_PARALLELIZE  // the same bits for any number of threads
#include <Eigen/Eigenvalues>

#include "base/error.h"

namespace trainyard {

SymmetricEigen symmetric_eigen(const std::vector<double> &matrix, std::int64_t n) {
  const Eigen::Map<const Eigen::MatrixXd> read(matrix.data(), n, n);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(read);
  if (solver.info() != Eigen::Success || !solver.eigenvectors().allFinite()) {
    throw Error(ErrorKind::data, "the eigenvalues do not converge");
  }
  const double *const values = solver.eigenvalues().data(), *const vectors =
                                                                solver.eigenvectors().data();
  return {{values, values + n}, {vectors, vectors + n * n}};
}

}  // namespace trainyard
