// Functors of batch norm's gradient over planes (Ioffe and Szegedy 2015, section 3).
#pragma once

#include "compute/norm/bn_planes.h"

namespace trainyard::onednn {

/// The tensors that both passes over the planes read.
template <class T>
struct GradientPlanes {
  Planes planes;
  PlaneAddress input, output;  // of x and dx, of dy
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
