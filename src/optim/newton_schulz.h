// The Newton-Schulz iteration, which makes the singular values of matrices nearly 1 by products
// alone (Jordan et al. 2024, "Muon"), on any launcher and with the products of any device.
//
//   X = u / norm(u), transposed if it has more rows than columns
//   repeatedly: A = X X^T;  X = (a I + b A + c A A) X
#pragma once

#include <cstdint>
#include <utility>

#include "base/host_device.h"
#include "compute/matmul/matrix_products.h"
#include "optim/blocks.h"

namespace trainyard {

/// The polynomial and how often it is applied.
struct NewtonSchulz {
  double a = 3.4445, b = -4.7750, c = 2.0315;
  std::int64_t iterations = 5;
  /// Kept from 0: the norm is at least epsilon (torch), or epsilon is added to it (Jordan).
  double epsilon = 1e-7;
  bool adds_epsilon = false;

  [[nodiscard]] TY_HD double divisor(double norm) const {
    return adds_epsilon ? norm + epsilon : norm < epsilon ? epsilon : norm;
  }
};

/// A parameter as a matrix.
struct MatrixPlace {
  std::int64_t first = 0;    // element of the flat block
  std::int32_t segment = 0;  // whose norm divides it
};

/// Parameters of one shape, as matrices [rows, columns] with no more rows than columns, which
/// follow one another in the memory of the batch.
struct MatrixBatch {
  const MatrixPlace* places = nullptr;  // [count] on the device
  std::int64_t count = 0, rows = 0, columns = 0;
  bool transposed = false;  // parameters are [columns, rows]
  double scale = 1;         // of the result
  void* matrices = nullptr;
  void* next = nullptr;        // as large
  void* gram = nullptr;        // [count, rows, rows]
  void* polynomial = nullptr;  // as large
  void* workspace = nullptr;   // of the products
  const MatrixProduct *outer = nullptr, *square = nullptr, *apply = nullptr;

  [[nodiscard]] std::int64_t elements() const { return count * rows * columns; }
};

/// A row of a batch's matrices: calls change(element of the row, element of the flat block).
template <class Team, class F>
TY_HD void each_element(const Team& team, const MatrixBatch& batch, std::int64_t row,
                        const F& change) {
  const std::int64_t stride = batch.rows, r = row % stride;
  const std::int64_t from = batch.places[row / stride].first;
  if (batch.transposed) {
    team.each(batch.columns, [=](std::int64_t c) { change(c, from + r + c * stride); });
  } else {
    const std::int64_t first = from + r * batch.columns;
    team.each(batch.columns, [=](std::int64_t c) { change(c, first + c); });
  }
}

/// Rows of matrices = directions / divisor of their norm.
template <class T>
struct LoadMatrices {
  static constexpr std::int64_t kMovedTensors = 2;
  MatrixBatch batch;
  NewtonSchulz iteration;
  const T* directions;
  const Norms* norms;  // by segment
  [[nodiscard]] std::int64_t columns() const { return batch.columns; }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    T* const to = static_cast<T*>(batch.matrices) + row * batch.columns;
    const T* const from = directions;
    const double norm = norms[batch.places[row / batch.rows].segment].gradients;
    const T divisor = static_cast<T>(iteration.divisor(norm));
    each_element(team, batch, row,
                 [=](std::int64_t c, std::int64_t i) { to[c] = from[i] / divisor; });
  }
};

/// Rows of polynomial = a I + b gram + c gram^2, which it holds.
template <class T>
struct CombinePowers {
  static constexpr std::int64_t kMovedTensors = 3;
  MatrixBatch batch;
  T a, b, c;
  [[nodiscard]] std::int64_t columns() const { return batch.rows; }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const T* const gram = static_cast<const T*>(batch.gram) + row * batch.rows;
    T* const powers = static_cast<T*>(batch.polynomial) + row * batch.rows;
    const std::int64_t diagonal = row % batch.rows;
    const T of_one = a, of_first = b, of_second = c;
    team.each(batch.rows, [=](std::int64_t i) {
      powers[i] = (i == diagonal ? of_one : T(0)) + of_first * gram[i] + of_second * powers[i];
    });
  }
};

/// Directions = scale * rows of matrices.
template <class T>
struct StoreMatrices {
  static constexpr std::int64_t kMovedTensors = 2;
  MatrixBatch batch;
  T* directions;
  [[nodiscard]] std::int64_t columns() const { return batch.columns; }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const T* const from = static_cast<const T*>(batch.matrices) + row * batch.columns;
    T* const to = directions;
    const T scale = static_cast<T>(batch.scale);
    each_element(team, batch, row,
                 [=](std::int64_t c, std::int64_t i) { to[i] = scale * from[c]; });
  }
};

/// Replaces the directions of a batch, in blocks.gradients, by the nearly orthogonal matrices;
/// blocks.norms has their norms. The same launches in every step.
template <class T, class Launcher>
void orthogonalize(const Launcher& launcher, const UpdateBlocks& blocks, MatrixBatch batch,
                   const NewtonSchulz& iteration) {
  T* const directions = static_cast<T*>(blocks.gradients);
  const std::int64_t rows = batch.count * batch.rows;
  launcher.rows(rows, LoadMatrices<T>{batch, iteration, directions, blocks.norms.norms});
  const CombinePowers<T> combine{batch, static_cast<T>(iteration.a), static_cast<T>(iteration.b),
                                 static_cast<T>(iteration.c)};
  for (std::int64_t i = 0; i < iteration.iterations; ++i) {
    batch.outer->run(batch.matrices, batch.matrices, batch.gram, batch.workspace);
    batch.square->run(batch.gram, batch.gram, batch.polynomial, batch.workspace);
    launcher.rows(rows, combine);
    batch.apply->run(batch.polynomial, batch.matrices, batch.next, batch.workspace);
    std::swap(batch.matrices, batch.next);
  }
  launcher.rows(rows, StoreMatrices<T>{batch, directions});
}

}  // namespace trainyard
