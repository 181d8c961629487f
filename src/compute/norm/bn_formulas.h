// The arithmetic of batch norm (Ioffe and Szegedy 2015), written once for both walks over a map:
// rows of channels (bn.h, as on GPUs) and blocks of channels (bn_planes.h, on CPUs). A walk
// adds up the terms of each channel in its own order, in parts; how parts merge, what follows from
// the totals and what happens to each value is here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/host_device.h"
#include "base/math.h"
#include "compute/executor.h"
#include "device/device.h"
#include "launcher/pack.h"
#include "launcher/pairwise.h"
#include "ops/bn.h"

namespace trainyard {

// Sums over the batch for each channel, of one replica or of all: forward of x and x * x, backward
// of dy and dy * (x - mean).

struct Moments {
  double mean;
  double variance;  // biased; at least 0, or NaN
};
/// Moments of `count` values x with these sums of x - pivot and of its square. With a pivot among
/// the values or their means nothing cancels: its distance from the mean is at most sqrt(count)
/// deviations.
TY_HD Moments moments_of(const PairSum& sums, double count, double pivot) {
  const double shift = sums.first / count;
  const double around = sums.second / count - shift * shift;
  return {pivot + shift, around < 0 ? 0 : around};
}
/// The sums around a pivot that is `shift` below that of `sums` of `count` values: the merge of
/// parts with pivots of their own (Chan, Golub and LeVeque 1983), which are added once they have
/// one.
TY_HD PairSum moved_sums(const PairSum& sums, double count, double shift) {
  return {sums.first + count * shift, sums.second + shift * (2 * sums.first + count * shift)};
}

/// The part of a batch norm that spans all replicas: does nothing unless the op has `sync`, the
/// pass sums over the batch, and there are several replicas.
class SyncedBatch {
 public:
  explicit SyncedBatch(const StepDescription& step)
      : sum_(joins(step) ? step.statistics_sum : nullptr),
        fixed_(op_as<BnOp>(step).values().fixed) {}

  [[nodiscard]] bool joined() const { return sum_ != nullptr; }
  [[nodiscard]] int replicas() const { return joined() ? sum_->replicas() : 1; }
  /// Values per channel of which statistics are means, `own` of them this replica's: means over
  /// the endless batch of fixed statistics do not depend on this one, and its gradients in them
  /// are 0.
  [[nodiscard]] double values(std::int64_t own) const {
    if (fixed_) return std::numeric_limits<double>::infinity();
    return static_cast<double>(own) * replicas();
  }
  /// Bytes of the sums of `channels` channels; 0 for a single replica.
  [[nodiscard]] std::size_t bytes(std::int64_t channels) const {
    return joined() ? static_cast<std::size_t>(channels) * sizeof(PairSum) : 0;
  }
  /// Where they are stored, bytes(channels) at a multiple of 16; null for a single replica.
  void bind(void* memory) { sums_ = joined() ? static_cast<PairSum*>(memory) : nullptr; }
  [[nodiscard]] PairSum* sums() const { return sums_; }
  /// Enqueues the all-reduce of the replicas' sums.
  void sum(std::int64_t channels) const {
    static_assert(sizeof(PairSum) == 2 * sizeof(double));
    sum_->sum(&sums_->first, 2 * channels);
  }

 private:
  [[nodiscard]] static bool joins(const StepDescription& step) {
    const bool sums = step.pass == Pass::forward_train || step.pass == Pass::backward_data;
    return step.statistics_sum != nullptr && step.statistics_sum->replicas() > 1 && sums &&
           op_as<BnOp>(step).values().sync;
  }

  StatisticsSum* sum_;
  bool fixed_;
  PairSum* sums_ = nullptr;
};

/// The constants of a channel's values.
template <class A>
struct ChannelConstants {
  A mean;
  A factor;  // gamma / sqrt(variance + eps)
  A offset;  // beta

  /// bn(x) before the ReLU. Shared by forward and backward, so that backward recomputes the ReLU's
  /// sign without reading the output.
  TY_HD A normalised(A x) const { return (x - mean) * factor + offset; }
};

/// How the first pass of the gradient knows where the ReLU was open: there is none; from bn(x),
/// computed again; from y, behind the sum with a residual; `kept`: dy there is also stored.
enum class ReluCut { none, by_input, by_output, kept };

/// The value after a ReLU; NaN stays NaN.
template <class A>
TY_HD A clamped(A value) {
  return value < 0 ? A(0) : value;
}

/// The gradient behind a ReLU, where `above` is its input or output: dy where it was open, else 0.
template <class A>
TY_HD A behind_relu(A above, A gradient) {
  return above > 0 ? gradient : A(0);
}

/// What the gradient of x needs of a channel besides its constants.
template <class A>
struct GradientConstants {
  A mean_gradient;  // mean of dy
  A slope;          // mean of dy * (x - mean), over variance + eps
};

/// dx = factor * (dy - mean(dy) - (x - mean) * slope), for dy behind the ReLU.
template <class A>
TY_HD A input_gradient(const ChannelConstants<A>& channel, const GradientConstants<A>& means, A x,
                       A gradient) {
  return channel.factor * (gradient - means.mean_gradient - (x - channel.mean) * means.slope);
}

/// The constants of all channels: one element per channel, padding included (0 there, so that
/// padding stays 0).
template <class A>
struct ChannelFactors {
  A* mean;
  A* factor;
  A* offset;

  /// Elements of memory of `padded` channels.
  TY_HD static constexpr std::int64_t elements(std::int64_t padded) { return 3 * padded; }
  /// The arrays of `padded` channels, one after the other.
  TY_HD static ChannelFactors at(void* memory, std::int64_t padded) {
    A* const first = static_cast<A*>(memory);
    return {first, first + padded, first + 2 * padded};
  }
  TY_HD ChannelConstants<A> operator[](std::int64_t c) const {
    return {mean[c], factor[c], offset[c]};
  }
  TY_HD void set(std::int64_t c, const ChannelConstants<A>& constants) const {
    mean[c] = constants.mean;
    factor[c] = constants.factor;
    offset[c] = constants.offset;
  }
  /// Constants of channels [c, c + W), where c and `padded` are multiples of P: 16 bytes at a time.
  template <int P, int W>
  TY_HD void load(std::int64_t c, ChannelConstants<A>* constants) const {
    constexpr int kTogether = P < kPack<A> ? P : kPack<A>;
    TY_UNROLL
    for (int k = 0; k < W; k += kTogether) {
      const auto means = load_pack<A, kTogether>(mean + c + k);
      const auto factors = load_pack<A, kTogether>(factor + c + k);
      const auto offsets = load_pack<A, kTogether>(offset + c + k);
      TY_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        constants[k + i] = {means.value[i], factors.value[i], offsets.value[i]};
      }
    }
  }
};

/// As ChannelFactors.
template <class A>
struct GradientFactors {
  A* mean_gradient;
  A* slope;

  TY_HD static constexpr std::int64_t elements(std::int64_t padded) { return 2 * padded; }
  TY_HD static GradientFactors at(void* memory, std::int64_t padded) {
    A* const first = static_cast<A*>(memory);
    return {first, first + padded};
  }
  TY_HD void set(std::int64_t c, const GradientConstants<A>& constants) const {
    mean_gradient[c] = constants.mean_gradient;
    slope[c] = constants.slope;
  }
  template <int P, int W>
  TY_HD void load(std::int64_t c, GradientConstants<A>* constants) const {
    constexpr int kTogether = P < kPack<A> ? P : kPack<A>;
    TY_UNROLL
    for (int k = 0; k < W; k += kTogether) {
      const auto means = load_pack<A, kTogether>(mean_gradient + c + k);
      const auto slopes = load_pack<A, kTogether>(slope + c + k);
      TY_UNROLL
      for (int i = 0; i < kTogether; ++i) constants[k + i] = {means.value[i], slopes.value[i]};
    }
  }
};

/// The learned parameters, and the constants that follow from them and from statistics.
template <class A>
struct MakeChannelFactors {
  const A* gamma;  // or null: 1
  const A* beta;   // or null: 0
  A eps;
  std::int64_t channels;  // without padding
  ChannelFactors<A> out;

  TY_HD ChannelConstants<A> constants(std::int64_t c, A mean, A variance) const {
    if (c >= channels) return {A(0), A(0), A(0)};
    const A scale = gamma != nullptr ? gamma[c] : A(1);
    return {mean, scale / math::sqrt(variance + eps), beta != nullptr ? beta[c] : A(0)};
  }
  TY_HD void set(std::int64_t c, A mean, A variance) const {
    out.set(c, constants(c, mean, variance));
  }
};

/// Evaluation: the constants from the running statistics. Called once per channel. In training
/// with fixed statistics these are written as the batch's too.
template <class A>
struct RunningFactors {
  static constexpr bool kSiblings = true;
  MakeChannelFactors<A> factors;
  const A* mean;
  const A* variance;
  A* batch_mean;  // or null
  A* batch_variance;
  TY_HD void operator()(std::int64_t c) const {
    const bool padding = c >= factors.channels;
    factors.set(c, padding ? A(0) : mean[c], padding ? A(1) : variance[c]);
    if (padding || batch_mean == nullptr) return;
    batch_mean[c] = mean[c];
    batch_variance[c] = variance[c];
  }
};

/// The end of the first pass of training: a channel's statistics and constants. With other replicas
/// to join, its sums, from which the call for each channel continues once they are those of all.
template <class A>
struct SettleMoments {
  A* batch_mean;
  A* batch_variance;
  MakeChannelFactors<A> factors;
  double own, all;  // values per channel: of this replica, of all
  PairSum* joint;   // [padded], or null: one replica

  /// `sums` of this replica's values around `pivot`.
  TY_HD void finish(std::int64_t c, const PairSum& sums, double pivot) const {
    if (joint == nullptr) return settle(c, moments_of(sums, all, pivot));
    joint[c] = moved_sums(sums, own, pivot);
  }
  TY_HD void operator()(std::int64_t c) const { settle(c, moments_of(joint[c], all, 0)); }
  /// What finish() sets.
  TY_HD ChannelConstants<A> constants(std::int64_t c, const PairSum& sums, double pivot) const {
    const Moments moments = moments_of(sums, all, pivot);
    return factors.constants(c, static_cast<A>(moments.mean), static_cast<A>(moments.variance));
  }

 private:
  TY_HD void settle(std::int64_t c, const Moments& moments) const {
    const A mean = static_cast<A>(moments.mean), variance = static_cast<A>(moments.variance);
    if (c < factors.channels) {
      batch_mean[c] = mean;
      batch_variance[c] = variance;
    }
    factors.set(c, mean, variance);
  }
};

/// The end of the first pass of the gradient: from a channel's sums of dy and of dy * (x - mean)
/// (section 3 of the paper), the parameters' gradients, and the constants of the input's. With
/// other replicas to join as SettleMoments; the parameters' gradients are of the replica's own
/// sums.
template <class A>
struct SettleGradients {
  using Sum = PairSum;
  using Factors = GradientFactors<A>;
  const A* variance;
  A eps;
  A* gamma_gradient;      // or null
  A* beta_gradient;       // or null
  std::int64_t channels;  // without padding
  GradientFactors<A> factors;
  double all;      // values per channel, of all replicas
  PairSum* joint;  // [padded], or null: one replica

  TY_HD void finish(std::int64_t c, const PairSum& sums) const {
    if (joint == nullptr) {
      settle(c, sums);
    } else {
      joint[c] = sums;
    }
    if (c >= channels) return;
    if (beta_gradient != nullptr) beta_gradient[c] = static_cast<A>(sums.first);
    if (gamma_gradient != nullptr) {
      gamma_gradient[c] = static_cast<A>(sums.second / math::sqrt(spread(c)));
    }
  }
  TY_HD void operator()(std::int64_t c) const { settle(c, joint[c]); }
  /// What finish() sets.
  TY_HD GradientConstants<A> constants(std::int64_t c, const PairSum& sums) const {
    if (c >= channels) return {A(0), A(0)};
    return {static_cast<A>(sums.first / all), static_cast<A>(sums.second / all / spread(c))};
  }

 private:
  TY_HD double spread(std::int64_t c) const { return static_cast<double>(variance[c]) + eps; }
  TY_HD void settle(std::int64_t c, const PairSum& sums) const {
    factors.set(c, constants(c, sums));
  }
};

}  // namespace trainyard
