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
  /// Where element i of the batch is in the flat block.
  [[nodiscard]] TY_HD std::int64_t place(std::int64_t i) const {
    const std::int64_t size = rows * columns, at = i % size;
    const std::int64_t own = transposed ? at % columns * rows + at / columns : at;
    return places[i / size].first + own;
  }
};

/// matrices[i] = direction / divisor of its norm.
template <class T>
struct LoadMatrices {
  static constexpr std::int64_t kMovedTensors = 2;
  MatrixBatch batch;
  NewtonSchulz iteration;
  const T* directions;
  const Norms* norms;  // by segment
  TY_HD void operator()(std::int64_t i) const {
    const double norm = norms[batch.places[i / (batch.rows * batch.columns)].segment].gradients;
    static_cast<T*>(batch.matrices)[i] =
        directions[batch.place(i)] / static_cast<T>(iteration.divisor(norm));
  }
};

/// polynomial = a I + b gram + c gram^2, which it holds.
template <class T>
struct CombinePowers {
  static constexpr std::int64_t kMovedTensors = 3;
  const T* gram;
  T* polynomial;
  std::int64_t rows;
  T a, b, c;
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t at = i % (rows * rows);
    const T diagonal = at % (rows + 1) == 0 ? a : T(0);
    polynomial[i] = diagonal + b * gram[i] + c * polynomial[i];
  }
};

/// direction = scale * matrices[i].
template <class T>
struct StoreMatrices {
  static constexpr std::int64_t kMovedTensors = 2;
  MatrixBatch batch;
  T* directions;
  TY_HD void operator()(std::int64_t i) const {
    directions[batch.place(i)] =
        static_cast<T>(batch.scale) * static_cast<const T*>(batch.matrices)[i];
  }
};

/// Replaces the directions of a batch, in blocks.gradients, by the nearly orthogonal matrices;
/// blocks.norms has their norms. The same launches in every step.
template <class T, class Launcher>
void orthogonalize(const Launcher& launcher, const UpdateBlocks& blocks, MatrixBatch batch,
                   const NewtonSchulz& iteration) {
  T* const directions = static_cast<T*>(blocks.gradients);
  launcher.each(batch.elements(),
                LoadMatrices<T>{batch, iteration, directions, blocks.norms.norms});
  const CombinePowers<T> combine{static_cast<const T*>(batch.gram),
                                 static_cast<T*>(batch.polynomial),
                                 batch.rows,
                                 static_cast<T>(iteration.a),
                                 static_cast<T>(iteration.b),
                                 static_cast<T>(iteration.c)};
  for (std::int64_t i = 0; i < iteration.iterations; ++i) {
    batch.outer->run(batch.matrices, batch.matrices, batch.gram, batch.workspace);
    batch.square->run(batch.gram, batch.gram, batch.polynomial, batch.workspace);
    launcher.each(batch.count * batch.rows * batch.rows, combine);
    batch.apply->run(batch.polynomial, batch.matrices, batch.next, batch.workspace);
    std::swap(batch.matrices, batch.next);
  }
  launcher.each(batch.elements(), StoreMatrices<T>{batch, directions});
}

}  // namespace trainyard
