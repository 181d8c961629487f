#include "data/augment/symmetric_eigen.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "launcher/launch.h"

namespace trainyard {
namespace {

/// A row of the matrix after the pending reflection, A -= v w' + w v', and its product with the
/// next one's vector. One team per row from `first` on.
struct ReflectRows {
  double* matrix;
  std::int64_t n, first;
  const double *v, *w, *next;  // [n]
  double* product;             // [n]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t r) const {
    const std::int64_t i = first + r;
    double* const row = matrix + i * n + first;
    const double of_v = v[i], of_w = w[i];
    team.each(n - first,
              [&](std::int64_t j) { row[j] -= of_v * w[first + j] + of_w * v[first + j]; });
    product[i] = team.template sum<double>(
        n - first, [&](std::int64_t j) { return row[j] * next[first + j]; });
  }
};

/// Columns of vectors that one team rotates: with as many rows as they have, they stay in the
/// cache.
constexpr std::int64_t kRotatedColumns = 32;

/// Turns rows `row` and row + 1 of the vectors.
struct Rotation {
  std::int64_t row;
  double sine, cosine;
};

/// Rotations in order. One team per kRotatedColumns columns.
struct RotateColumns {
  double* vectors;
  std::int64_t n;
  const Rotation* rotations;
  std::int64_t count;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t part) const {
    const std::int64_t begin = part * kRotatedColumns;
    const std::int64_t width = begin + kRotatedColumns < n ? kRotatedColumns : n - begin;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto [row, sine, cosine] = rotations[k];
      double* const a = vectors + row * n + begin;
      double* const b = a + n;
      team.each(width, [&](std::int64_t j) {
        const double low = a[j], high = b[j];
        b[j] = sine * low + cosine * high;
        a[j] = cosine * low - sine * high;
      });
    }
  }
};

/// Vectors that one team reflects, so that a reflection is read once for all of them.
constexpr std::int64_t kReflectedRows = 8;

/// The reflections, the last one first, of the vectors in rows. One team per kReflectedRows rows.
struct ReflectVectors {
  const double* reflections;  // [n, n]: row k from k + 1 on
  const double* betas;        // [n]
  double* vectors;
  std::int64_t n;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t part) const {
    const std::int64_t begin = part * kReflectedRows;
    const std::int64_t end = begin + kReflectedRows < n ? begin + kReflectedRows : n;
    for (std::int64_t k = n - 2; k >= 0; --k) {
      if (betas[k] == 0) continue;
      const double* const u = reflections + k * n + k + 1;
      const std::int64_t length = n - k - 1;
      for (std::int64_t i = begin; i < end; ++i) {
        double* const z = vectors + i * n + k + 1;
        const double by = betas[k] * team.template sum<double>(
                                         length, [&](std::int64_t j) { return u[j] * z[j]; });
        team.each(length, [&](std::int64_t j) { z[j] -= by * u[j]; });
      }
    }
  }
};

/// The matrix is Q T Q', Q the product of the reflections I - beta u u'.
struct Tridiagonal {
  std::vector<double> diagonal, beside;  // [n]; beside[i] is at (i, i + 1)
  std::vector<double> betas;             // [n]
};

/// Reduces the matrix, whose row k then holds the vector u of reflection k from k + 1 on.
class Reduction {
 public:
  Reduction(std::vector<double>& matrix, std::int64_t n, int threads)
      : matrix_(matrix),
        n_(n),
        launcher_(threads),
        v_(size()),
        w_(size()),
        next_(size()),
        product_(size()) {
    result_ = {v_, v_, v_};
  }
  Tridiagonal run() {
    for (std::int64_t k = 0; k < n_; ++k) {
      double* const row = matrix_.data() + k * n_;
      for (std::int64_t j = k; j < n_; ++j) row[j] -= v_[at(k)] * w_[at(j)] + w_[at(k)] * v_[at(j)];
      result_.diagonal[at(k)] = row[k];
      if (k + 1 < n_) reflect(k, row);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(n_); }
  [[nodiscard]] static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// Makes u of the row, which is complete, and leaves A -= u w' + w u' pending.
  void reflect(std::int64_t k, double* row) {
    double tail = 0;
    for (std::int64_t j = k + 2; j < n_; ++j) tail += row[j] * row[j];
    double beta = 0;
    result_.beside[at(k)] = row[k + 1];
    if (tail > 0) {
      const double length = std::sqrt(row[k + 1] * row[k + 1] + tail);
      result_.beside[at(k)] = -std::copysign(length, row[k + 1]);
      row[k + 1] -= result_.beside[at(k)];
      beta = 2 / (row[k + 1] * row[k + 1] + tail);
    }
    std::fill(next_.begin(), next_.begin() + k + 1, 0.0);
    for (std::int64_t j = k + 1; j < n_; ++j) next_[at(j)] = beta == 0 ? 0 : row[j];
    launcher_.rows(n_ - k - 1, ReflectRows{matrix_.data(), n_, k + 1, v_.data(), w_.data(),
                                           next_.data(), product_.data()});
    double along = 0;
    for (std::int64_t j = k + 1; j < n_; ++j) along += product_[at(j)] * next_[at(j)];
    const double part = beta * beta / 2 * along;
    for (std::int64_t j = k + 1; j < n_; ++j) {
      w_[at(j)] = beta * product_[at(j)] - part * next_[at(j)];
    }
    v_.swap(next_);
    result_.betas[at(k)] = beta;
  }

  std::vector<double>& matrix_;
  std::int64_t n_;
  CpuLauncher launcher_;
  std::vector<double> v_, w_;  // of the pending reflection
  std::vector<double> next_, product_;
  Tridiagonal result_;
};

/// QL steps on a tridiagonal matrix, whose diagonal becomes its eigenvalues.
class QlSteps {
 public:
  QlSteps(Tridiagonal& matrix, std::vector<double>& vectors, int threads)
      : d_(matrix.diagonal), e_(matrix.beside), vectors_(vectors), launcher_(threads) {}
  void run() {
    e_.back() = 0;
    for (std::size_t i = 0; i < d_.size(); ++i) {
      negligible_ = std::max(negligible_, 2.3e-16 * (std::abs(d_[i]) + std::abs(e_[i])));
    }
    for (std::size_t l = 0; l < d_.size(); ++l) {
      for (int steps = 0; !negligible_from(l); ++steps) {
        if (steps == kMostSteps) throw Error(ErrorKind::data, "the eigenvalues do not converge");
        step(l, end_);
      }
    }
    apply();
  }

 private:
  static constexpr int kMostSteps = 60;
  static constexpr std::size_t kKept = 1 << 16;  // rotations

  /// Sets end_ to the first place from l on where the matrix falls apart; true if that is l.
  bool negligible_from(std::size_t l) {
    end_ = l;
    while (end_ + 1 < d_.size() && !(std::abs(e_[end_]) <= negligible_)) ++end_;
    return end_ == l;
  }
  void step(std::size_t l, std::size_t m) {
    double g = (d_[l + 1] - d_[l]) / (2 * e_[l]);
    double r = std::sqrt(g * g + 1);
    g = d_[m] - d_[l] + e_[l] / (g + std::copysign(r, g));
    double sine = 1, cosine = 1, p = 0;
    for (std::size_t i = m; i-- > l;) {
      const double f = sine * e_[i], b = cosine * e_[i];
      r = std::sqrt(f * f + g * g);
      e_[i + 1] = r;
      if (r == 0) {  // it fell apart on the way
        d_[i + 1] -= p;
        e_[m] = 0;
        return;
      }
      sine = f / r;
      cosine = g / r;
      g = d_[i + 1] - p;
      r = (d_[i] - g) * sine + 2 * cosine * b;
      p = sine * r;
      d_[i + 1] = g + p;
      g = cosine * r - b;
      rotations_.push_back({static_cast<std::int64_t>(i), sine, cosine});
    }
    d_[l] -= p;
    e_[l] = g;
    e_[m] = 0;
    if (rotations_.size() > kKept) apply();
  }
  void apply() {
    const auto n = static_cast<std::int64_t>(d_.size());
    launcher_.rows((n + kRotatedColumns - 1) / kRotatedColumns,
                   RotateColumns{vectors_.data(), n, rotations_.data(), std::ssize(rotations_)});
    rotations_.clear();
  }

  std::vector<double>&d_, &e_;
  std::vector<double>& vectors_;
  CpuLauncher launcher_;
  std::vector<Rotation> rotations_;
  std::size_t end_ = 0;
  double negligible_ = 0;  // beside the diagonal
};

}  // namespace

SymmetricEigen symmetric_eigen(std::vector<double> matrix, std::int64_t n, int threads) {
  Tridiagonal reduced = Reduction(matrix, n, threads).run();
  SymmetricEigen eigen;
  eigen.vectors.resize(matrix.size());
  for (std::int64_t i = 0; i < n; ++i) eigen.vectors[static_cast<std::size_t>(i * (n + 1))] = 1;
  QlSteps(reduced, eigen.vectors, threads).run();
  CpuLauncher(threads).rows(
      (n + kReflectedRows - 1) / kReflectedRows,
      ReflectVectors{matrix.data(), reduced.betas.data(), eigen.vectors.data(), n});
  eigen.values = std::move(reduced.diagonal);
  return eigen;
}

}  // namespace trainyard
