#include "data/augment/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/faults.h"
#include "base/parallel.h"

namespace trainyard {

namespace {

constexpr std::int64_t kParts = 16;  // parts of the set; more would only cost memory: the result is
                                     // independent of threads already

/// Sums over a part of the samples, per position of the image.
struct PartialSums {
  std::vector<double> values;   // [c, h, w]
  std::vector<double> squares;  // [c, h, w]
};

/// Sums of bytes fit in 32 bits for 65,536 samples, which is faster than double and as exact.
constexpr std::int64_t kByteBlock = 65536;

void add_bytes(const std::uint8_t* samples, std::int64_t count, PartialSums& sums) {
  const std::size_t elements = sums.values.size();
  std::vector<std::uint32_t> values(elements);
  std::vector<std::uint32_t> squares(elements);
  for (std::int64_t sample = 0; sample < count; ++sample) {
    const std::uint8_t* from = samples + sample * static_cast<std::int64_t>(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      const std::uint32_t value = from[i];
      values[i] += value;
      squares[i] += value * value;
    }
  }
  for (std::size_t i = 0; i < elements; ++i) {
    sums.values[i] += values[i];
    sums.squares[i] += squares[i];
  }
}

void add_byte_range(const Dataset& set, std::int64_t begin, std::int64_t end, PartialSums& sums) {
  const std::int64_t elements = set.image_shape().elements();
  for (std::int64_t first = begin; first < end; first += kByteBlock) {
    const std::int64_t count = std::min(kByteBlock, end - first);
    add_bytes(set.held().bytes.data() + first * elements, count, sums);
  }
}

/// Goes on past samples that cannot be read.
void add_range(const Dataset& set, std::int64_t begin, std::int64_t end, PartialSums& sums,
               Faults& faults) {
  std::vector<float> image(sums.values.size());
  for (std::int64_t sample = begin; sample < end; ++sample) {
    faults.attempt(sample, [&] { set.read(sample, image.data()); });
    for (std::size_t i = 0; i < image.size(); ++i) {
      const double value = image[i];
      sums.values[i] += value;
      sums.squares[i] += value * value;
    }
  }
}

PartialSums sum_of_parts(const Dataset& set, int threads) {
  const std::size_t elements = static_cast<std::size_t>(set.image_shape().elements());
  std::vector<PartialSums> parts(kParts);
  Faults faults;
  each_sample(threads, kParts, [&](std::int64_t part) {
    PartialSums& sums = parts[static_cast<std::size_t>(part)];
    sums.values.resize(elements);
    sums.squares.resize(elements);
    const std::int64_t begin = set.size() * part / kParts;
    const std::int64_t end = set.size() * (part + 1) / kParts;
    set.held().bytes.empty() ? add_range(set, begin, end, sums, faults)
                             : add_byte_range(set, begin, end, sums);
  });
  faults.raise();
  for (std::size_t part = 1; part < parts.size(); ++part) {
    for (std::size_t i = 0; i < elements; ++i) {
      parts[0].values[i] += parts[part].values[i];
      parts[0].squares[i] += parts[part].squares[i];
    }
  }
  return std::move(parts[0]);
}

}  // namespace

Statistics compute_statistics(const Dataset& set, int threads) {
  const PartialSums sums = sum_of_parts(set, threads);
  const Shape shape = set.image_shape();
  const double samples = static_cast<double>(set.size());
  Statistics statistics;
  for (const double value : sums.values) {
    statistics.mean_image.push_back(static_cast<float>(value / samples));
  }
  const std::int64_t plane = shape[1] * shape[2];
  for (std::int64_t channel = 0; channel < shape[0]; ++channel) {
    double value = 0;
    double square = 0;
    for (std::int64_t i = channel * plane; i < (channel + 1) * plane; ++i) {
      value += sums.values[static_cast<std::size_t>(i)];
      square += sums.squares[static_cast<std::size_t>(i)];
    }
    const double count = samples * static_cast<double>(plane);
    const double mean = value / count;
    // E[x^2] - E[x]^2 in double: with values of at most 24 bits and means of similar size the loss
    // is below 1e-9 of the mean square.
    const double variance = std::max(0.0, square / count - mean * mean);
    statistics.mean.push_back(static_cast<float>(mean));
    statistics.deviation.push_back(static_cast<float>(std::sqrt(variance)));
  }
  return statistics;
}

}  // namespace trainyard
