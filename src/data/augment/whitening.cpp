#include "data/augment/whitening.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/augment/pipeline.h"
#include "launcher/launch.h"

namespace trainyard {
namespace {

constexpr std::int64_t kMomentSamples = 64;  // samples added at once, so that they stay in cache

/// sums[i, j >= i] += the sum over k, in order, of rows[k, i] * rows[k, j]. One team for rows r and
/// elements - 1 - r, which have the same length together.
template <class T>
struct AddMoments {
  const T* rows;  // [count, elements]
  std::int64_t count, elements;
  double* sums;  // [elements, elements]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t r) const {
    add(team, r);
    if (elements - 1 - r != r) add(team, elements - 1 - r);
  }

 private:
  template <class Team>
  TY_HD void add(const Team& team, std::int64_t i) const {
    double* const to = sums + i * elements + i;
    const std::int64_t length = elements - i;
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
      const T* const a = rows + k * elements + i;
      const T *const b = a + elements, *const c = b + elements, *const d = c + elements;
      const double of_a = a[0], of_b = b[0], of_c = c[0], of_d = d[0];
      team.each(length, [&](std::int64_t j) {
        to[j] = to[j] + of_a * a[j] + of_b * b[j] + of_c * c[j] + of_d * d[j];
      });
    }
    for (; k < count; ++k) {
      const T* const a = rows + k * elements + i;
      const double of_a = a[0];
      team.each(length, [&](std::int64_t j) { to[j] += of_a * a[j]; });
    }
  }
};

template <class T>
void add_moments(const T* rows, std::int64_t count, std::int64_t elements, int threads,
                 std::vector<double>& sums) {
  CpuLauncher(threads).rows((elements + 1) / 2, AddMoments<T>{rows, count, elements, sums.data()});
}

void mirror(std::vector<double>& matrix, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      matrix[static_cast<std::size_t>(i * n + j)] = matrix[static_cast<std::size_t>(j * n + i)];
    }
  }
}

std::vector<double> second_moment(const Dataset& set, const Pipeline& pipeline, int threads) {
  const std::int64_t elements = pipeline.output_shape().elements();
  std::vector<double> sums(static_cast<std::size_t>(elements * elements));
  std::vector<float> samples(static_cast<std::size_t>(kMomentSamples * elements));
  for (std::int64_t first = 0; first < set.size(); first += kMomentSamples) {
    const std::int64_t count = std::min(kMomentSamples, set.size() - first);
    parallel_ranges(threads, count, 1, [&](std::int64_t begin, std::int64_t end) {
      ImageScratch scratch;
      for (std::int64_t i = begin; i < end; ++i) {
        pipeline.fill_eval(set, first + i, scratch, samples.data() + i * elements);
      }
    });
    add_moments(samples.data(), count, elements, threads, sums);
  }
  for (double& sum : sums) sum /= static_cast<double>(set.size());
  mirror(sums, elements);
  return sums;
}

/// sums[i, j >= i] += the products of elements i and j of each patch of a sample.
void add_patches(const float* sample, const Shape& shape, std::int64_t height, std::int64_t width,
                 std::vector<double>& sums) {
  const std::int64_t m = shape[0] * height * width, plane = shape[1] * shape[2];
  std::vector<double> patch(static_cast<std::size_t>(m));
  for (std::int64_t y = 0; y + height <= shape[1]; ++y) {
    for (std::int64_t x = 0; x + width <= shape[2]; ++x) {
      for (std::int64_t k = 0; k < m; ++k) {
        const std::int64_t c = k / (height * width), row = k / width % height;
        patch[k] = sample[c * plane + (y + row) * shape[2] + x + k % width];
      }
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = i; j < m; ++j) sums[i * m + j] += patch[i] * patch[j];
      }
    }
  }
}

/// Samples that whiten_samples() takes through the matrix together, so that it is read once.
constexpr std::int64_t kWhitenedSamples = 8;
/// Columns of the matrix that it takes at once: sums of so many samples stay in the cache.
constexpr std::int64_t kWhitenedColumns = 512;

/// One team per kWhitenedColumns columns.
struct WhitenColumns {
  const float* in;  // [count, elements]
  const float* matrix;
  float* out;
  std::int64_t elements, count;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t part) const {
    const std::int64_t first = part * kWhitenedColumns;
    const std::int64_t width =
        first + kWhitenedColumns < elements ? kWhitenedColumns : elements - first;
    for (std::int64_t n = 0; n < count; ++n) {
      float* const to = out + n * elements + first;
      team.each(width, [&](std::int64_t j) { to[j] = 0; });
    }
    for (std::int64_t k = 0; k < elements; ++k) {
      const float* const row = matrix + k * elements + first;
      for (std::int64_t n = 0; n < count; ++n) {
        const float by = in[n * elements + k];
        float* const to = out + n * elements + first;
        team.each(width, [&](std::int64_t j) { to[j] += by * row[j]; });
      }
    }
  }
};

}  // namespace

std::vector<float> whitening_filters(const Dataset& set, const Pipeline& pipeline,
                                     std::int64_t height, std::int64_t width, double epsilon) {
  constexpr std::int64_t kMostSamples = 5000;
  const Shape& shape = pipeline.output_shape();
  const std::int64_t m = shape[0] * height * width, samples = std::min(kMostSamples, set.size());
  std::vector<double> sums(static_cast<std::size_t>(m * m));
  std::vector<float> sample(static_cast<std::size_t>(shape.elements()));
  ImageScratch scratch;
  for (std::int64_t i = 0; i < samples; ++i) {
    pipeline.fill_eval(set, i, scratch, sample.data());
    add_patches(sample.data(), shape, height, width, sums);
  }
  const std::int64_t patches = samples * (shape[1] - height + 1) * (shape[2] - width + 1);
  for (double& sum : sums) sum /= static_cast<double>(patches);
  mirror(sums, m);
  const SymmetricEigen eigen = symmetric_eigen(sums, m);
  std::vector<float> filters(static_cast<std::size_t>(2 * m * m));
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t from = m - 1 - i;  // the values increase
    const double factor = 1 / std::sqrt(eigen.values[from] + epsilon);
    for (std::int64_t k = 0; k < m; ++k) {
      const auto weight = static_cast<float>(factor * eigen.vectors[from * m + k]);
      filters[i * m + k] = weight;
      filters[(m + i) * m + k] = -weight;
    }
  }
  return filters;
}

std::vector<float> whitening_matrix(const Dataset& set, const Pipeline& pipeline, double epsilon,
                                    int threads) {
  const std::int64_t elements = pipeline.output_shape().elements();
  if (elements > kMostWhitened) {
    throw Error(ErrorKind::memory, "zca: samples of " + std::to_string(elements) +
                                       " values need a matrix of as many rows and columns; at "
                                       "most " +
                                       std::to_string(kMostWhitened) + " are possible");
  }
  SymmetricEigen eigen = symmetric_eigen(second_moment(set, pipeline, threads), elements);
  for (std::int64_t i = 0; i < elements; ++i) {
    // A second moment has no negative eigenvalues but for rounding.
    const double value = std::max(eigen.values[static_cast<std::size_t>(i)], 0.0);
    const double by = 1 / std::sqrt(std::sqrt(value + epsilon));
    for (std::int64_t j = i * elements; j < (i + 1) * elements; ++j) {
      eigen.vectors[static_cast<std::size_t>(j)] *= by;
    }
  }
  std::vector<double> product(eigen.vectors.size());
  add_moments(eigen.vectors.data(), elements, elements, threads, product);
  mirror(product, elements);
  return {product.begin(), product.end()};
}

void whiten_samples(const float* matrix, std::int64_t elements, std::int64_t count, float* samples,
                    float* room) {
  const CpuLauncher launcher(1);
  for (std::int64_t first = 0; first < count; first += kWhitenedSamples) {
    const std::int64_t together = std::min(kWhitenedSamples, count - first);
    float* const of = samples + first * elements;
    std::copy_n(of, together * elements, room);
    launcher.rows((elements + kWhitenedColumns - 1) / kWhitenedColumns,
                  WhitenColumns{room, matrix, of, elements, together});
  }
}

std::int64_t whitening_room(std::int64_t elements) { return kWhitenedSamples * elements; }

}  // namespace trainyard
