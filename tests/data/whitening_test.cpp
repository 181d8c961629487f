// Eigenvectors of symmetric matrices, and ZCA whitening.
#include "data/augment/whitening.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "config/load.h"
#include "data/augment/pipeline.h"
#include "data/augment/preprocess.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Matrix = std::vector<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Symmetric, of numbers in [-1, 1).
Matrix random_symmetric(std::int64_t n) {
  Matrix matrix(at(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const Random4 random =
          random4(1, RandomStream::synthetic, 0, 0, static_cast<std::uint64_t>(i * n + j));
      matrix[at(i * n + j)] = matrix[at(j * n + i)] = 2.0 * uniform01(random.word[0]) - 1;
    }
  return matrix;
}

/// The largest |A v - value v| over all eigenvectors and places.
double residual(const Matrix& matrix, const SymmetricEigen& eigen, std::int64_t n) {
  double most = 0;
  for (std::int64_t e = 0; e < n; ++e)
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = -eigen.values[at(e)] * eigen.vectors[at(e * n + i)];
      for (std::int64_t j = 0; j < n; ++j) {
        sum += matrix[at(i * n + j)] * eigen.vectors[at(e * n + j)];
      }
      most = std::max(most, std::abs(sum));
    }
  return most;
}

/// The largest difference of the vectors' products from those of an orthonormal basis.
double skewness(const SymmetricEigen& eigen, std::int64_t n) {
  double most = 0;
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b <= a; ++b) {
      double sum = a == b ? -1 : 0;
      for (std::int64_t i = 0; i < n; ++i) {
        sum += eigen.vectors[at(a * n + i)] * eigen.vectors[at(b * n + i)];
      }
      most = std::max(most, std::abs(sum));
    }
  return most;
}

void check_eigen(const Matrix& matrix, std::int64_t n, double scale) {
  CAPTURE(n);
  const SymmetricEigen eigen = symmetric_eigen(matrix, n);
  CHECK(residual(matrix, eigen, n) <= 1e-14 * scale * static_cast<double>(n));
  CHECK(skewness(eigen, n) <= 1e-14 * static_cast<double>(n));
}

}  // namespace

TEST_CASE("eigenvectors of a symmetric matrix are orthonormal, for every size and any gaps") {
  for (const std::int64_t n : {1, 2, 3, 7, 33, 150}) check_eigen(random_symmetric(n), n, 10);
  Matrix identity(25), ones(25, 1.0), apart{2, 0, 0, 0, 3, 1e-30, 0, 1e-30, 3};
  for (std::size_t i = 0; i < 5; ++i) identity[i * 6] = 4;
  check_eigen(identity, 5, 4);
  check_eigen(ones, 5, 5);
  check_eigen(apart, 3, 3);
  check_eigen(Matrix(16), 4, 1);
  // A matrix of low rank, as the second moment of few samples: most eigenvalues are rounding.
  Matrix low(90 * 90);
  for (std::int64_t i = 0; i < 90; ++i)
    for (std::int64_t j = 0; j < 90; ++j) {
      for (std::int64_t k = 1; k < 20; ++k) {
        low[at(i * 90 + j)] += 1e4 * std::sin(0.1 * static_cast<double>(k * i * i)) *
                               std::sin(0.1 * static_cast<double>(k * j * j));
      }
    }
  check_eigen(low, 90, 1e7);
}

TEST_CASE("a matrix that is not finite has no eigenvalues") {
  Matrix matrix = random_symmetric(5);
  matrix[7] = NAN;
  CHECK(test::message_of(ErrorKind::data, [&] { (void)symmetric_eigen(matrix, 5); }) ==
        "the eigenvalues do not converge");
}

TEST_CASE("zca is Keras's: the golden matrix, and its products with samples") {
  const config::Node golden =
      config::load_yaml(std::string(TY_SOURCE_DIR) + "/tests/data/goldens/zca.yaml");
  MemorySamples samples;
  samples.image = {2, 2, 3};
  samples.classes = 1;
  for (const config::Node& value : golden.find("samples")->items) {
    samples.bytes.push_back(static_cast<std::uint8_t>(value.integer));
  }
  samples.labels.resize(samples.bytes.size() / 12);
  const MemoryDataset set(std::move(samples));
  Pipeline pipeline(set.image_shape(), {},
                    {std::make_shared<MeanRgb>(std::vector<float>{}), std::make_shared<Zca>(0.1)});
  pipeline.prepare(compute_statistics(set, 1));
  const std::vector<float> matrix = whitening_matrix(set, pipeline, *pipeline.whitens(), 2);
  CHECK(matrix == whitening_matrix(set, pipeline, *pipeline.whitens(), 1));
  REQUIRE(matrix.size() == 144);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    CHECK(matrix[i] == doctest::Approx(golden.find("matrix")->items[i].real).epsilon(1e-5));
  }
  pipeline.whiten_with(matrix);
  ImageScratch scratch;
  std::vector<float> whitened(12 * 40);
  for (std::int64_t i = 0; i < 40; ++i) {
    pipeline.fill_eval(set, i, scratch, whitened.data() + i * 12);
  }
  pipeline.whiten(40, scratch, whitened.data());
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(whitened[i] == doctest::Approx(golden.find("whitened")->items[i].real).epsilon(1e-4));
  }
  // The second moment is the identity, less epsilon's part of each eigenvalue: 12 in all without
  // it.
  double squares = 0;
  for (std::size_t i = 0; i < whitened.size(); ++i) squares += whitened[i] * whitened[i];
  CHECK(squares / 40 < 12);
  CHECK(squares / 40 > 11);
}

TEST_CASE("the whitening matrix of an odd number of values whitens an odd number of samples") {
  MemorySamples samples;
  samples.image = {1, 1, 3};
  samples.classes = 1;
  samples.bytes = {1, 2, 3, 9, 4, 1, 7, 7, 2, 3, 8, 8, 5, 0, 6};
  samples.labels.resize(5);
  const MemoryDataset set(std::move(samples));
  const Pipeline pipeline(set.image_shape(), {}, {});
  const std::vector<float> matrix = whitening_matrix(set, pipeline, 1e-9, 1);
  Matrix moment(9);
  for (std::int64_t n = 0; n < 5; ++n) {
    float x[3];
    set.read(n, x);
    double y[3] = {};
    for (int i = 0; i < 9; ++i) y[i % 3] += static_cast<double>(x[i / 3] * matrix[at(i)]);
    for (int i = 0; i < 9; ++i) moment[at(i)] += y[i / 3] * y[i % 3] / 5;
  }
  // The matrix is in float, of values up to 10.
  for (int i = 0; i < 9; ++i) CHECK(std::abs(moment[at(i)] - (i % 4 == 0 ? 1 : 0)) < 1e-5);
}

TEST_CASE(
    "whitening filters make the values of patches uncorrelated, and come with their negatives") {
  constexpr std::int64_t kImages = 30, kSide = 5, kValues = 12;  // of a patch of 2x2
  MemorySamples samples;
  samples.image = {3, kSide, kSide};
  samples.classes = 1;
  for (std::uint64_t i = 0; i < kImages * 3 * kSide * kSide; ++i) {
    const Random4 random = random4(1, RandomStream::synthetic, 0, 0, i);
    samples.bytes.push_back(static_cast<std::uint8_t>(random.word[0] % 256));
  }
  samples.labels.resize(kImages);
  const MemoryDataset set(std::move(samples));
  const Pipeline pipeline(set.image_shape(), {}, {std::make_shared<Scale>(1.0 / 255)});
  constexpr double kEpsilon = 1e-3;
  const std::vector<float> filters = whitening_filters(set, pipeline, 2, 2, kEpsilon);
  REQUIRE(filters.size() == 2 * kValues * kValues);
  for (std::size_t i = 0; i < at(kValues * kValues); ++i) {
    CHECK(filters[at(kValues * kValues) + i] == -filters[i]);
  }
  Matrix outputs(at(kValues * kValues));  // second moment
  ImageScratch scratch;
  std::vector<float> image(3 * kSide * kSide);
  for (std::int64_t n = 0; n < kImages; ++n) {
    pipeline.fill_eval(set, n, scratch, image.data());
    for (std::int64_t y = 0; y + 1 < kSide; ++y) {
      for (std::int64_t x = 0; x + 1 < kSide; ++x) {
        std::vector<double> out(kValues);
        for (std::int64_t f = 0; f < kValues; ++f) {
          for (std::int64_t c = 0; c < 3; ++c) {
            for (std::int64_t k = 0; k < 4; ++k) {
              out[at(f)] += filters[at(f * kValues + c * 4 + k)] *
                            image[at((c * kSide + y + k / 2) * kSide + x + k % 2)];
            }
          }
        }
        for (std::int64_t i = 0; i < kValues; ++i) {
          for (std::int64_t j = 0; j < kValues; ++j) {
            outputs[at(i * kValues + j)] += out[at(i)] * out[at(j)] / (kImages * 16);
          }
        }
      }
    }
  }
  // v / (v + epsilon) on the diagonal, falling with the eigenvalues v.
  for (std::int64_t i = 0; i < kValues; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      CHECK(std::abs(outputs[at(i * kValues + j)]) < 1e-5);
    }
    CHECK(outputs[at(i * kValues + i)] < 1);
    CHECK(outputs[at(i * kValues + i)] > 0.9);
    if (i > 0) CHECK(outputs[at(i * kValues + i)] <= outputs[at((i - 1) * (kValues + 1))] + 1e-6);
  }
}

TEST_CASE("whitening many samples together gives each the bits that it gets alone") {
  std::vector<float> matrix(700 * 700), together(19 * 700);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < together.size(); ++i) together[i] = std::cos(static_cast<float>(i));
  std::vector<float> alone = together, room(static_cast<std::size_t>(whitening_room(700)));
  std::vector<float> by_element(together.size());
  const WhitenBatch batch{together.data(), matrix.data(), by_element.data(), 700};
  for (std::int64_t i = 0; i < 19 * 700; ++i) batch(i);
  for (std::int64_t n = 0; n < 19; ++n) {
    whiten_samples(matrix.data(), 700, 1, alone.data() + n * 700, room.data());
  }
  whiten_samples(matrix.data(), 700, 19, together.data(), room.data());
  CHECK(together == alone);
  CHECK(together == by_element);
}

TEST_CASE("zca must end the list, and its matrix has a largest size") {
  CHECK(test::message_of(ErrorKind::config, [] {
          (void)Pipeline({1, 2, 2}, {}, {std::make_shared<Zca>(1e-6), std::make_shared<Scale>(2)});
        }) == "preprocess: 'zca' must be the last step; move it down");
  CHECK(test::message_of(ErrorKind::memory,
                         [] {
                           const auto set = test::random_bytes_set(1, {3, 65, 64});
                           (void)whitening_matrix(*set, Pipeline({3, 65, 64}, {}, {}), 1e-6, 1);
                         }) ==
        "zca: samples of 12480 values need a matrix of as many rows and columns; at most "
        "12288 are possible");
}

}  // namespace trainyard
