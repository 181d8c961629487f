// Functors of batch norm over channel blocks anywhere in memory: whole tensors, or channel slices
// of wider ones (concatenated branches). (oneDNN has code for whole tensors alone, and with it
// ResNet-20's first loss was ten times as far from float64 as a change of one ulp in every weight
// moves it, with these functors about as far: tests/golden.) What happens to a channel and to a
// value is functor/bn_formulas.h's. Values are stored in T and computed in float.
//
// A plane is one block of channels of one image: [h * w, kBlock] without gaps; the channels of a
// plain tensor are blocks of one. Sums are taken over pieces of a plane that stay in the
// first-level cache and are then merged in the order of images and pieces, in double: the result
// does not depend on threads or vector width.
//
// The last block of a tensor may have padding after its channels: it is 0 and stays so, and the
// op's own arrays of one element per channel (statistics, parameters) end with the channels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "base/host_device.h"
#include "compute/norm/bn_formulas.h"
#include "tensor/layout.h"

namespace trainyard::onednn {

/// Values of a piece: 16 KiB.
inline constexpr std::int64_t kPieceValues = 4096;

/// The planes of a tensor and their pieces. Row r of a pass over pieces is piece r % pieces of
/// plane r / pieces; plane p is block p / images of image p % images.
struct Planes {
  std::int64_t images, pixels, pieces;

  explicit Planes(const Layout& layout)
      : images(layout.extent[0]),
        pixels(layout.extent[2] * layout.extent[3]),
        pieces((pixels * layout.block + kPieceValues - 1) / kPieceValues) {}
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

/// Lanes of a sum over pixels: `sums` per channel of a block, which hide the latency of additions;
/// for blocks of one channel what fills some vectors.
template <int kBlock, int kSums>
inline constexpr int kPlaneLanes = kBlock == 1 ? 16 * kSums : kBlock* kSums;
/// Lanes of a pass without sums: values of T in a vector of AVX-512. With fewer, GCC takes vectors
/// of half that width.
template <class T, int kBlock>
inline constexpr int kMapLanes = kPlaneLanes<kBlock, 4 / sizeof(T)>;

/// Calls f(i, lane) for kCount neighbours. GCC makes vectors of a loop that may select between
/// values only if it does not unroll it first.
template <int kCount, class F>
TY_HD void each_lane(std::int64_t i, int lane, const F& f) {
#pragma GCC ivdep
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) f(i + k, lane + k);
}

/// Calls f(i, lane) for the values [0, values) of whole pixels in order, where lane is i modulo
/// kLanes.
template <int kBlock, int kLanes, class F>
TY_HD void each_value(std::int64_t values, const F& f) {
  std::int64_t first = 0;
  for (; first + kLanes <= values; first += kLanes) each_lane<kLanes>(first, 0, f);
  if constexpr (kBlock < kLanes) {
    for (int lane = 0; first + lane < values; lane += kBlock) {
      each_lane<kBlock>(first + lane, lane, f);
    }
  }
}

/// Adds the lanes of each channel in pairs, into the first kBlock.
template <int kBlock, int kLanes>
TY_HD void fold_lanes(float (&lanes)[kLanes]) {
  for (int width = kLanes / 2; width >= kBlock; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
}

/// The constants of a block's channels, which lane after lane repeats.
template <int kBlock, int kLanes = kBlock>
struct BlockConstants {
  float mean[kLanes], factor[kLanes], offset[kLanes];

  TY_HD BlockConstants(const ChannelFactors<float>& channels, std::int64_t first) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const ChannelConstants<float> channel = channels[first + lane % kBlock];
      mean[lane] = channel.mean;
      factor[lane] = channel.factor;
      offset[lane] = channel.offset;
    }
  }
  TY_HD ChannelConstants<float> operator[](int lane) const {
    return {mean[lane], factor[lane], offset[lane]};
  }
};

/// Mean and sum of squared deviations of each channel of a piece: one row of `kBlock` each.
template <class T, int kBlock>
struct PieceStatistics {
  Planes planes;
  PlaneAddress address;
  const T* x;
  float* means;
  float* squares;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t row) const {
    constexpr int kLanes = kPlaneLanes<kBlock, 4>;
    const std::int64_t piece = row % planes.pieces;
    const std::int64_t first = planes.first_pixel(piece), end = planes.first_pixel(piece + 1);
    const T* const data = x + address.offset(planes, row / planes.pieces) + first * kBlock;
    const std::int64_t values = (end - first) * kBlock;
    float sums[kLanes] = {};
    each_value<kBlock, kLanes>(
        values, [&](std::int64_t i, int lane) { sums[lane] += static_cast<float>(data[i]); });
    fold_lanes<kBlock>(sums);
    float mean[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      mean[lane] = sums[lane % kBlock] / static_cast<float>(end - first);
    }
    float around[kLanes] = {};
    each_value<kBlock, kLanes>(values, [&](std::int64_t i, int lane) {
      const float centred = static_cast<float>(data[i]) - mean[lane];
      around[lane] += centred * centred;
    });
    fold_lanes<kBlock>(around);
    for (int c = 0; c < kBlock; ++c) {
      means[row * kBlock + c] = mean[c];
      squares[row * kBlock + c] = around[c];
    }
  }
};

/// Batch statistics from those of the pieces, around the mean of the first. A row is a block of
/// channels.
template <int kBlock>
struct MergeStatistics {
  Planes planes;
  const float* means;
  const float* squares;
  std::int64_t first_block;
  SettleMoments<float> settle;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t block) const {
    const std::int64_t rows = planes.images * planes.pieces;
    const float* const mean = means + block * rows * kBlock;
    const float* const square = squares + block * rows * kBlock;
    double pivot[kBlock], first[kBlock] = {}, second[kBlock] = {};
    for (int c = 0; c < kBlock; ++c) pivot[c] = mean[c];
    for (std::int64_t row = 0; row < rows; ++row) {
      const double pixels = pixels_of(row);
      for (int c = 0; c < kBlock; ++c) {
        const PairSum part{0, square[row * kBlock + c]};
        const PairSum moved = moved_sums(part, pixels, mean[row * kBlock + c] - pivot[c]);
        first[c] += moved.first;
        second[c] += moved.second;
      }
    }
    for (int c = 0; c < kBlock; ++c) {
      settle.finish((first_block + block) * kBlock + c, {first[c], second[c]}, pivot[c]);
    }
  }
  [[nodiscard]] TY_HD double pixels_of(std::int64_t row) const {
    const std::int64_t piece = row % planes.pieces;
    return static_cast<double>(planes.first_pixel(piece + 1) - planes.first_pixel(piece));
  }
};

/// clamped(value), rounded. In bf16 the bits are clamped as whole numbers, which makes -0 0: of a
/// comparison before the rounding GCC 12 makes four.
template <class T>
TY_HD T rounded_relu(float value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    BFloat16 rounded(value);
    const auto bits = static_cast<std::int16_t>(rounded.bits);
    rounded.bits = static_cast<std::uint16_t>(bits < 0 ? 0 : bits);
    return rounded;
  } else {
    return static_cast<T>(clamped(value));
  }
}

/// y = bn(x), plus the residual if there is one, clamped at 0 with relu. A row is a plane.
template <class T, int kBlock>
struct NormalisePlane {
  Planes planes;
  PlaneAddress from, to;
  const T* x;
  const T* residual;  // same layout as x, or null; only with relu
  T* y;
  std::int64_t first_block;
  ChannelFactors<float> channels;
  bool relu;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t plane) const {
    if (residual != nullptr) return apply<true, true>(plane);
    relu ? apply<true, false>(plane) : apply<false, false>(plane);
  }

 private:
  template <bool kRelu, bool kResidual>
  TY_HD void apply(std::int64_t plane) const {
    constexpr int kLanes = kMapLanes<T, kBlock>;
    const std::int64_t at = from.offset(planes, plane);
    const T* const in = x + at;
    const T* const added = kResidual ? residual + at : nullptr;
    T* const out = y + to.offset(planes, plane);
    const BlockConstants<kBlock, kLanes> constants(channels,
                                                   (first_block + plane / planes.images) * kBlock);
    each_value<kBlock, kLanes>(planes.pixels * kBlock, [&](std::int64_t i, int lane) {
      const float normal = constants[lane].normalised(static_cast<float>(in[i]));
      float value = normal;
      if constexpr (kResidual) value += static_cast<float>(added[i]);
      out[i] = kRelu ? rounded_relu<T>(value) : static_cast<T>(value);
    });
  }
};

// The gradient (Ioffe and Szegedy 2015, section 3).

/// The tensors that both passes over the planes read.
template <class T>
struct GradientPlanes {
  Planes planes;
  PlaneAddress input, output;  // addresses of x and dx, of dy
  const T* x;
  const T* dy;
  std::int64_t first_block;
  ChannelFactors<float> channels;
  bool relu;

  /// The first channel of a plane.
  [[nodiscard]] TY_HD std::int64_t first_channel(std::int64_t plane, int block) const {
    return (first_block + plane / planes.images) * block;
  }
};

/// The gradient of the sum before a ReLU: that of a residual, and the dy of the second pass.
template <class T>
struct ResidualGradientPlanes {
  const T* y = nullptr;   // same layout as dy; null: no residual
  T* gradient = nullptr;  // same layout as x, may be dy; null: not needed
};

/// Sums over a piece of dy and of dy * (x - mean), for dy where the ReLU was open.
template <class T, int kBlock>
struct PieceGradientSums {
  GradientPlanes<T> tensors;
  ResidualGradientPlanes<T> residual;
  float* gradients;
  float* products;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t row) const {
    if (residual.y != nullptr) {
      return residual.gradient != nullptr ? sum<ReluCut::kept>(row) : sum<ReluCut::by_output>(row);
    }
    tensors.relu ? sum<ReluCut::by_input>(row) : sum<ReluCut::none>(row);
  }

 private:
  template <ReluCut kCut>
  TY_HD void sum(std::int64_t row) const {
    constexpr int kLanes = kPlaneLanes<kBlock, 2>;
    const Planes& planes = tensors.planes;
    const std::int64_t plane = row / planes.pieces, piece = row % planes.pieces;
    const std::int64_t first = planes.first_pixel(piece), end = planes.first_pixel(piece + 1);
    const std::int64_t in = tensors.input.offset(planes, plane) + first * kBlock;
    const std::int64_t out = tensors.output.offset(planes, plane) + first * kBlock;
    const T* const x = tensors.x + in;
    const T* const dy = tensors.dy + out;
    const T* const y = kCut >= ReluCut::by_output ? residual.y + out : nullptr;
    T* const kept = kCut == ReluCut::kept ? residual.gradient + in : nullptr;
    const BlockConstants<kBlock, kLanes> constants(tensors.channels,
                                                   tensors.first_channel(plane, kBlock));
    float gradient[kLanes] = {}, product[kLanes] = {};
    each_value<kBlock, kLanes>((end - first) * kBlock, [&](std::int64_t i, int lane) {
      const float value = static_cast<float>(x[i]);
      float above = 1;
      if (kCut == ReluCut::by_input) above = constants[lane].normalised(value);
      if (kCut >= ReluCut::by_output) above = static_cast<float>(y[i]);
      const float open = behind_relu(above, static_cast<float>(dy[i]));
      if (kCut == ReluCut::kept) kept[i] = static_cast<T>(open);  // exact
      gradient[lane] += open;
      product[lane] += open * (value - constants.mean[lane]);
    });
    fold_lanes<kBlock>(gradient);
    fold_lanes<kBlock>(product);
    for (int c = 0; c < kBlock; ++c) {
      gradients[row * kBlock + c] = gradient[c];
      products[row * kBlock + c] = product[c];
    }
  }
};

/// Sums over the batch, and what follows from them. A row is a block of channels.
template <int kBlock>
struct MergeGradients {
  Planes planes;
  const float* gradients;
  const float* products;
  std::int64_t first_block;
  SettleGradients<float> settle;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t block) const {
    const std::int64_t rows = planes.images * planes.pieces;
    double gradient[kBlock] = {}, product[kBlock] = {};
    for (std::int64_t row = block * rows; row < (block + 1) * rows; ++row) {
      for (int c = 0; c < kBlock; ++c) {
        gradient[c] += gradients[row * kBlock + c];
        product[c] += products[row * kBlock + c];
      }
    }
    for (int c = 0; c < kBlock; ++c) {
      settle.finish((first_block + block) * kBlock + c, {gradient[c], product[c]});
    }
  }
};

/// The gradient of x. A row is a plane. Reads x and dy, writes dx.
template <class T, int kBlock>
struct GradientPlane {
  GradientPlanes<T> tensors;
  GradientFactors<float> factors;
  T* dx;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t plane) const {
    tensors.relu ? apply<true>(plane) : apply<false>(plane);
  }

 private:
  template <bool kRelu>
  TY_HD void apply(std::int64_t plane) const {
    constexpr int kLanes = kMapLanes<T, kBlock>;
    const Planes& planes = tensors.planes;
    const std::int64_t at = tensors.input.offset(planes, plane);
    const T* const x = tensors.x + at;
    const T* const dy = tensors.dy + tensors.output.offset(planes, plane);
    T* const out = dx + at;
    const std::int64_t first = tensors.first_channel(plane, kBlock);
    const BlockConstants<kBlock, kLanes> constants(tensors.channels, first);
    float mean_gradient[kLanes], slope[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      mean_gradient[lane] = factors.mean_gradient[first + lane % kBlock];
      slope[lane] = factors.slope[first + lane % kBlock];
    }
    each_value<kBlock, kLanes>(planes.pixels * kBlock, [&](std::int64_t i, int lane) {
      const ChannelConstants<float> channel = constants[lane];
      const float value = static_cast<float>(x[i]);
      const float all = static_cast<float>(dy[i]);
      const float open = kRelu ? behind_relu(channel.normalised(value), all) : all;
      out[i] = static_cast<T>(
          input_gradient<float>(channel, {mean_gradient[lane], slope[lane]}, value, open));
    });
  }
};

}  // namespace trainyard::onednn
