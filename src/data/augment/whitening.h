// ZCA whitening: the matrix of a training split, and its product with samples.
#pragma once

#include <cstdint>
#include <vector>

#include "base/host_device.h"

namespace trainyard {

// Eigenvalues and eigenvectors of a symmetric matrix.

struct SymmetricEigen {
  std::vector<double> values;   // [n], increasing
  std::vector<double> vectors;  // [n, n]: row i belongs to values[i], of length 1
};

/// Decomposes a symmetric [n, n] matrix, n >= 1, in one thread. Errors are about 1e-15 times the
/// largest eigenvalue. Throws Error{data} if it does not converge (not finite).
[[nodiscard]] SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, std::int64_t n);

class Dataset;
class Pipeline;

/// (S + epsilon I)^(-1/2), [d, d] with d the elements of a sample, S the second moment of the
/// training split as the pipeline's preprocessing leaves it: Keras 2.1.6's principal_components
/// (preprocessing/image.py, fit). S, its eigenvectors and the product are computed in double, and
/// are the same for any number of threads. d = 3072 takes 47 s of processor time, which the threads
/// share, and d^2 / 2 multiply-adds for each sample. Throws Error{memory} if d is beyond
/// kMostWhitened.
[[nodiscard]] std::vector<float> whitening_matrix(const Dataset& set, const Pipeline& pipeline,
                                                  double epsilon, int threads);
inline constexpr std::int64_t kMostWhitened = 12288;  // 3 x 64 x 64: 576 MiB of floats

/// Filters whose outputs on the patches of images are uncorrelated and of about the same size
/// (Page 2018; Jordan 2024, airbench): [2 m, c, height, width] with m = c * height * width. Filter
/// i is the eigenvector of the i-th largest eigenvalue v of the patches' second moment, divided by
/// sqrt(v + epsilon); filter m + i is its negative. The patches are all of the first 5,000 samples,
/// as the pipeline's preprocessing leaves them, [c, h, w]. In double, in one thread.
[[nodiscard]] std::vector<float> whitening_filters(const Dataset& set, const Pipeline& pipeline,
                                                   std::int64_t height, std::int64_t width,
                                                   double epsilon);

/// out[n, j] = the sum over k, in order, of in[n, k] * matrix[k, j]. One call per element.
struct WhitenBatch {
  const float* in;      // [n, elements]
  const float* matrix;  // [elements, elements]
  float* out;           // [n, elements]
  std::int64_t elements;

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t n = i / elements, j = i - n * elements;
    const float* const sample = in + n * elements;
    float sum = 0;
    for (std::int64_t k = 0; k < elements; ++k) sum += sample[k] * matrix[k * elements + j];
    out[i] = sum;
  }
};

/// The same by the calling thread, `count` samples in place, with the same bits. `room` has
/// whitening_room(elements) elements.
void whiten_samples(const float* matrix, std::int64_t elements, std::int64_t count, float* samples,
                    float* room);
[[nodiscard]] std::int64_t whitening_room(std::int64_t elements);

}  // namespace trainyard
