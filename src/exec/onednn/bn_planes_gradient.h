// Functors of batch norm's gradient over planes (Ioffe and Szegedy 2015, section 3).
#pragma once

#include "exec/onednn/bn_planes.h"

namespace trainyard::onednn {

/// The tensors that both passes over the planes read.
struct GradientPlanes {
  Planes planes;
  PlaneAddress input, output;  // of x and dx, of dy
  const float* x;
  const float* dy;
  ChannelFactors channels;
  bool relu;
};

/// The gradient of the sum before a ReLU: that of a residual, and the dy of the second pass.
struct ResidualGradient {
  const float* y = nullptr;   // same layout as dy; null: no residual
  float* gradient = nullptr;  // same layout as x, may be dy; null: not needed
};

/// Sums over a piece of dy and of dy * (x - mean), for dy where the ReLU was open.
template <int kBlock>
struct PieceGradientSums {
  GradientPlanes tensors;
  ResidualGradient residual;
  float* gradients;
  float* products;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t row) const {
    if (residual.y != nullptr) {
      return residual.gradient != nullptr ? sum<Cut::kept>(row) : sum<Cut::by_output>(row);
    }
    tensors.relu ? sum<Cut::by_input>(row) : sum<Cut::none>(row);
  }

 private:
  /// Whether the ReLU was open is recomputed from x, or read from y; `kept`: and dy there is
  /// written.
  enum class Cut { none, by_input, by_output, kept };

  template <Cut kCut>
  TY_HD void sum(std::int64_t row) const {
    constexpr int kLanes = 2 * kBlock;  // two sums per channel
    const Planes& planes = tensors.planes;
    const std::int64_t plane = row / planes.pieces, piece = row % planes.pieces;
    const std::int64_t first = planes.first_pixel(piece), end = planes.first_pixel(piece + 1);
    const std::int64_t in = tensors.input.offset(planes, plane) + first * kBlock;
    const std::int64_t out = tensors.output.offset(planes, plane) + first * kBlock;
    const float* const x = tensors.x + in;
    const float* const dy = tensors.dy + out;
    const float* const y = kCut >= Cut::by_output ? residual.y + out : nullptr;
    float* const kept = kCut == Cut::kept ? residual.gradient + in : nullptr;
    const std::int64_t channel = plane / planes.images * kBlock;
    float mean[kLanes], factor[kLanes], offset[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      mean[lane] = tensors.channels.mean[channel + lane % kBlock];
      factor[lane] = tensors.channels.factor[channel + lane % kBlock];
      offset[lane] = tensors.channels.offset[channel + lane % kBlock];
    }
    float gradient[kLanes] = {}, product[kLanes] = {};
    const auto add = [&](std::int64_t i, int lane) {
      const float value = x[i + lane], all = dy[i + lane];
      float above = 1;
      if (kCut == Cut::by_input) above = normalised(value, mean[lane], factor[lane], offset[lane]);
      if (kCut >= Cut::by_output) above = y[i + lane];
      const float open = above > 0 ? all : 0.0f;
      if (kCut == Cut::kept) kept[i + lane] = open;
      gradient[lane] += open;
      product[lane] += open * (value - mean[lane]);
    };
    const std::int64_t elements = (end - first) * kBlock;
    std::int64_t i = 0;
    for (; i + kLanes <= elements; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) add(i, lane);
    }
    for (int lane = 0; i + lane < elements; ++lane) add(i, lane);
    for (int c = 0; c < kBlock; ++c) {
      gradients[row * kBlock + c] = gradient[c] + gradient[kBlock + c];
      products[row * kBlock + c] = product[c] + product[kBlock + c];
    }
  }
};

/// Per-channel constants of the input's gradient.
struct GradientFactors {
  float* mean_gradient;  // mean of dy
  float* slope;          // mean of dy * (x - mean), over the variance
};

/// The factors of a channel from the sums over `count` values of dy and of dy * (x - mean).
/// `spread` is the variance with eps.
TY_HD void set_factors(const GradientFactors& factors, std::int64_t c, const PairSum& sums,
                       double count, double spread) {
  factors.mean_gradient[c] = static_cast<float>(sums.first / count);
  factors.slope[c] = static_cast<float>(sums.second / count / spread);
}

/// Sums over the batch: the parameters' gradients, and the factors or with other replicas the sums.
/// A row is a block of channels.
template <int kBlock>
struct MergeGradients {
  Planes planes;
  const float* gradients;
  const float* products;
  const float* variance;
  float eps;
  GradientFactors factors;
  float* gamma_gradient;  // or null
  float* beta_gradient;   // or null
  std::int64_t channels;  // of all rows, without padding
  PairSum* joint;         // or null: one replica

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
    for (int lane = 0; lane < kBlock; ++lane) {
      write(block * kBlock + lane, {gradient[lane], product[lane]});
    }
  }

 private:
  TY_HD void write(std::int64_t c, const PairSum& sums) const {
    if (c >= channels) {
      factors.mean_gradient[c] = factors.slope[c] = 0.0f;
      return;
    }
    const double spread = static_cast<double>(variance[c]) + eps;
    if (joint != nullptr) {
      joint[c] = sums;
    } else {
      set_factors(factors, c, sums, static_cast<double>(planes.count()), spread);
    }
    if (beta_gradient != nullptr) beta_gradient[c] = static_cast<float>(sums.first);
    if (gamma_gradient != nullptr) {
      gamma_gradient[c] = static_cast<float>(sums.second / std::sqrt(spread));
    }
  }
};

/// The factors from the sums of all replicas. Called once per channel.
struct SettleGradients {
  const PairSum* joint;
  double count;  // values per channel
  const float* variance;
  float eps;
  GradientFactors factors;
  TY_HD void operator()(std::int64_t c) const {
    set_factors(factors, c, joint[c], count, static_cast<double>(variance[c]) + eps);
  }
};

/// dx = factor * (dy - mean(dy) - (x - mean) * slope). A row is a plane. Reads x and dy, writes dx.
template <int kBlock>
struct GradientPlane {
  GradientPlanes tensors;
  GradientFactors factors;
  float* dx;

  template <class Team>
  TY_HD void operator()(const Team& /*team*/, std::int64_t plane) const {
    tensors.relu ? apply<true>(plane) : apply<false>(plane);
  }

 private:
  template <bool kRelu>
  TY_HD void apply(std::int64_t plane) const {
    const Planes& planes = tensors.planes;
    const std::int64_t at = tensors.input.offset(planes, plane);
    const float* const x = tensors.x + at;
    const float* const dy = tensors.dy + tensors.output.offset(planes, plane);
    float* const out = dx + at;
    const std::int64_t first = plane / planes.images * kBlock;
    float mean[kBlock], factor[kBlock], offset[kBlock], mean_gradient[kBlock], slope[kBlock];
    for (int c = 0; c < kBlock; ++c) {
      mean[c] = tensors.channels.mean[first + c];
      factor[c] = tensors.channels.factor[first + c];
      offset[c] = tensors.channels.offset[first + c];
      mean_gradient[c] = factors.mean_gradient[first + c];
      slope[c] = factors.slope[first + c];
    }
    for (std::int64_t i = 0; i < planes.pixels * kBlock; i += kBlock) {
      for (int c = 0; c < kBlock; ++c) {
        const float value = x[i + c], all = dy[i + c];
        const bool closed = kRelu && !(normalised(value, mean[c], factor[c], offset[c]) > 0);
        const float open = closed ? 0.0f : all;
        out[i + c] = factor[c] * ((open - mean_gradient[c]) - (value - mean[c]) * slope[c]);
      }
    }
  }
};

}  // namespace trainyard::onednn
