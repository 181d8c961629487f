// Functors of batch norm over channel blocks anywhere in memory: whole tensors, or channel slices
// of wider ones (concatenated branches), which oneDNN does not support. For a whole tensor it has
// code, but with it ResNet-20's first loss was ten times as far from float64 as a change of one ulp
// in every weight moves it (tests/golden), with these functors about as far.
//
// A plane is one block of channels of one image: [h * w, kBlock] without gaps. Sums are taken over
// pieces of a plane that stay in the first-level cache and are then merged in the order of images
// and pieces, in double: the result does not depend on threads or vector width. With other replicas
// to join, the merge leaves sums in double, and the Settle functors continue from those of all.
//
// The last block of a tensor may have padding after its channels: it is 0 and stays so, and the
// op's own arrays of one element per channel (statistics, parameters) end with the channels.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "exec/batch_sums.h"
#include "tensor/layout.h"

namespace trainyard::onednn {

/// Pixels of a piece: 256 pixels of 16 channels are 16 KiB.
inline constexpr std::int64_t kPiecePixels = 256;

/// The planes of a tensor and their pieces. Row r of a pass over pieces is piece r % pieces of
/// plane r / pieces; plane p is block p / images of image p % images.
struct Planes {
  std::int64_t images, pixels, pieces;

  explicit Planes(const Layout& layout)
      : images(layout.extent[0]),
        pixels(layout.extent[2] * layout.extent[3]),
        pieces((pixels + kPiecePixels - 1) / kPiecePixels) {}
  [[nodiscard]] TY_HD std::int64_t count() const { return images * pixels; }
  [[nodiscard]] TY_HD std::int64_t first_pixel(std::int64_t piece) const {
    return pixels * piece / pieces;
  }
};

/// The offsets of a tensor's planes.
struct PlaneAddress {
  std::int64_t image_stride, block_stride;

  explicit PlaneAddress(const Layout& layout)
      : image_stride(layout.stride[0]), block_stride(layout.stride[1]) {}
  [[nodiscard]] TY_HD std::int64_t offset(const Planes& planes, std::int64_t plane) const {
    return plane % planes.images * image_stride + plane / planes.images * block_stride;
  }
};

/// Per-channel constants. Each array has one element per channel, padding included.
struct ChannelFactors {
  float* mean;
  float* factor;  // gamma / sqrt(variance + eps)
  float* offset;  // beta
};

/// bn(x) before the ReLU. Shared by forward and backward, so that backward recomputes the ReLU's
/// sign without reading the output.
TY_HD float normalised(float x, float mean, float factor, float offset) {
  return (x - mean) * factor + offset;
}

/// Mean and sum of squared deviations of each channel of a piece: one row of `kBlock` each.
template <int kBlock>
struct PieceStatistics {
  Planes planes;
  PlaneAddress address;
  const float* x;
  float* means;
  float* squares;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t row) const {
    constexpr int kLanes = 4 * kBlock;  // four sums per channel, to hide the latency of additions
    const std::int64_t piece = row % planes.pieces;
    const std::int64_t first = planes.first_pixel(piece), end = planes.first_pixel(piece + 1);
    const float* const data = x + address.offset(planes, row / planes.pieces) + first * kBlock;
    const std::int64_t elements = (end - first) * kBlock;
    float sums[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= elements; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] += data[i + lane];
    }
    for (int lane = 0; i + lane < elements; ++lane) sums[lane] += data[i + lane];
    float mean[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const int c = lane % kBlock;
      mean[lane] = ((sums[c] + sums[kBlock + c]) + (sums[2 * kBlock + c] + sums[3 * kBlock + c])) /
                   static_cast<float>(end - first);
    }
    float around[kLanes] = {};
    for (i = 0; i + kLanes <= elements; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const float centred = data[i + lane] - mean[lane];
        around[lane] += centred * centred;
      }
    }
    for (int lane = 0; i + lane < elements; ++lane) {
      const float centred = data[i + lane] - mean[lane];
      around[lane] += centred * centred;
    }
    for (int c = 0; c < kBlock; ++c) {
      means[row * kBlock + c] = mean[c];
      squares[row * kBlock + c] =
          (around[c] + around[kBlock + c]) + (around[2 * kBlock + c] + around[3 * kBlock + c]);
    }
  }
};

/// Batch statistics from those of the pieces (Chan, Golub and LeVeque 1979), or with other replicas
/// its sums of x and x * x. A row is a block of channels.
template <int kBlock>
struct MergeStatistics {
  Planes planes;
  const float* means;
  const float* squares;
  float* batch_mean;
  float* batch_variance;
  std::int64_t channels;  // of all rows, without padding
  PairSum* joint;         // or null: one replica

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t block) const {
    const std::int64_t rows = planes.images * planes.pieces;
    const std::int64_t first = block * rows;
    double mean[kBlock] = {}, around[kBlock] = {};
    for (std::int64_t row = 0; row < rows; ++row) {
      const double weight = pixels_of(row);
      for (int c = 0; c < kBlock; ++c) mean[c] += weight * means[(first + row) * kBlock + c];
    }
    for (double& value : mean) value /= static_cast<double>(planes.count());
    for (std::int64_t row = 0; row < rows; ++row) {
      const double weight = pixels_of(row);
      for (int c = 0; c < kBlock; ++c) {
        const double shift = means[(first + row) * kBlock + c] - mean[c];
        around[c] += squares[(first + row) * kBlock + c] + weight * shift * shift;
      }
    }
    for (int lane = 0; lane < kBlock && block * kBlock + lane < channels; ++lane) {
      write(block * kBlock + lane, mean[lane], around[lane]);
    }
  }
  TY_HD void write(std::int64_t c, double mean, double around) const {
    const double count = static_cast<double>(planes.count());
    if (joint != nullptr) {
      joint[c] = {count * mean, around + count * mean * mean};
      return;
    }
    batch_mean[c] = static_cast<float>(mean);
    batch_variance[c] = static_cast<float>(around / count);
  }
  [[nodiscard]] TY_HD double pixels_of(std::int64_t row) const {
    const std::int64_t piece = row % planes.pieces;
    return static_cast<double>(planes.first_pixel(piece + 1) - planes.first_pixel(piece));
  }
};

/// Statistics of the batches of all replicas. Called once per channel.
struct SettleStatistics {
  const PairSum* joint;
  double count;  // values per channel
  float* batch_mean;
  float* batch_variance;
  TY_HD void operator()(std::int64_t c) const {
    const Moments moments = moments_of(joint[c], count);
    batch_mean[c] = static_cast<float>(moments.mean);
    batch_variance[c] = static_cast<float>(moments.variance);
  }
};

/// The factors of each channel from its statistics: 0 for padding. Called once per channel.
struct MakeFactors {
  const float* mean;
  const float* variance;
  const float* gamma;  // or null: 1
  const float* beta;   // or null: 0
  float eps;
  std::int64_t channels;  // calls from this channel on are for padding
  ChannelFactors out;
  TY_HD void operator()(std::int64_t c) const {
    if (c >= channels) {
      out.mean[c] = out.factor[c] = out.offset[c] = 0.0f;
      return;
    }
    out.mean[c] = mean[c];
    out.factor[c] = (gamma != nullptr ? gamma[c] : 1.0f) / std::sqrt(variance[c] + eps);
    out.offset[c] = beta != nullptr ? beta[c] : 0.0f;
  }
};

/// y = bn(x), plus the residual if there is one, clamped at 0 with relu (NaN stays NaN). A row is a
/// plane.
template <int kBlock>
struct NormalisePlane {
  Planes planes;
  PlaneAddress from, to;
  const float* x;
  const float* residual;  // same layout as x, or null; only with relu
  float* y;
  ChannelFactors channels;
  bool relu;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t plane) const {
    if (residual != nullptr) return apply<true, true>(plane);
    relu ? apply<true, false>(plane) : apply<false, false>(plane);
  }

 private:
  template <bool kRelu, bool kResidual>
  TY_HD void apply(std::int64_t plane) const {
    const std::int64_t at = from.offset(planes, plane);
    const float* const in = x + at;
    const float* const added = kResidual ? residual + at : nullptr;
    float* const out = y + to.offset(planes, plane);
    const std::int64_t first = plane / planes.images * kBlock;
    float mean[kBlock], factor[kBlock], offset[kBlock];
    for (int c = 0; c < kBlock; ++c) {
      mean[c] = channels.mean[first + c];
      factor[c] = channels.factor[first + c];
      offset[c] = channels.offset[first + c];
    }
    for (std::int64_t i = 0; i < planes.pixels * kBlock; i += kBlock) {
      for (int c = 0; c < kBlock; ++c) {
        const float normal = normalised(in[i + c], mean[c], factor[c], offset[c]);
        const float value = kResidual ? normal + added[i + c] : normal;
        out[i + c] = kRelu && value < 0 ? 0.0f : value;
      }
    }
  }
};

}  // namespace trainyard::onednn
