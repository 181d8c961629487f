// Normalisations within a sample: layer, group and instance norm.
#pragma once

#include <array>
#include <tuple>

#include "base/math.h"
#include "base/offset_allocator.h"
#include "compute/elementwise/scale.h"
#include "ops/norm.h"

namespace trainyard {

/// The mean and the factor 1 / sqrt(variance + eps) of every element, and gamma. Layer norm has
/// them for each pixel of each sample (kPixels); group and instance norm for each channel of each
/// sample, equal within a group.
template <class T, bool kPixels>
struct NormFactors {
  using A = Arithmetic<T>;
  std::int64_t parts;  // parts of a sample: its pixels, or its channels
  const A* mean;       // [n, parts]
  const A* factor;     // [n, parts]
  const A* gamma;      // [c], or null: 1

  [[nodiscard]] TY_HD std::int64_t part(const ElementIndex& at) const {
    return at.n * parts + (kPixels ? at.pixel : at.c);
  }
  /// (x - mean) / sqrt(variance + eps).
  TY_HD A normalised(A x, std::int64_t part) const { return (x - mean[part]) * factor[part]; }
  TY_HD A scaled(A value, std::int64_t c) const {
    return gamma == nullptr ? value : value * gamma[c];
  }
};

/// y = gamma[c] * normalised(x) + beta[c].
template <class T, bool kPixels>
struct NormValue {
  using A = Arithmetic<T>;
  NormFactors<T, kPixels> factors;
  const T* x;
  const A* beta;  // [c], or null: 0
  TY_HD A operator()(const ElementIndex& at) const {
    const A value = factors.normalised(static_cast<A>(x[at.offset]), factors.part(at));
    const A scaled = factors.scaled(value, at.c);
    return beta == nullptr ? scaled : scaled + beta[at.c];
  }
};

/// dx = (g - mean(g) - normalised(x) * mean(g * normalised(x))) / sqrt(variance + eps) with g =
/// gamma[c] * dy and means over what is normalised together (Ba et al. 2016; Wu and He 2018). dx
/// may be dy.
template <class T, bool kPixels>
struct NormGradient {
  using A = Arithmetic<T>;
  NormFactors<T, kPixels> factors;
  const T* x;
  const T* dy;
  const A* mean_gradient;  // [n, parts]
  const A* slope;          // [n, parts]: mean(g * normalised(x))
  TY_HD A operator()(const ElementIndex& at) const {
    const std::int64_t part = factors.part(at);
    const A gradient = factors.scaled(static_cast<A>(dy[at.offset]), at.c);
    const A value = factors.normalised(static_cast<A>(x[at.offset]), part);
    return factors.factor[part] * (gradient - mean_gradient[part] - value * slope[part]);
  }
};

/// The terms of the gradients of gamma, dy * normalised(x), and of beta, dy.
template <class T, bool kPixels>
struct NormTerms {
  using A = Arithmetic<T>;
  NormFactors<T, kPixels> factors;
  const T* x;
  const T* dy;
  TY_HD PairSum operator()(const ElementIndex& at) const {
    const double gradient = static_cast<A>(dy[at.offset]);
    const A value = factors.normalised(static_cast<A>(x[at.offset]), factors.part(at));
    return {gradient * static_cast<double>(value), gradient};
  }
};

/// Layer norm: the mean of each pixel's channels and 1 / sqrt(variance + eps), with the biased
/// variance. A row is a pixel. Two passes, so that a large mean costs no precision.
template <class T>
struct PixelMoments {
  using A = Arithmetic<T>;
  Places at;
  const T* x;
  A* mean;    // [n, pixels]
  A* factor;  // [n, pixels]
  A eps;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t n = row / at.pixels;
    const T* const values = x + at.offset(n, 0, row - n * at.pixels);
    const auto value = [&](std::int64_t c) -> A { return values[at.channel_offset(c)]; };
    const A size = static_cast<A>(at.channels);
    const A centre = team.template sum<A>(at.channels, value) / size;
    const A squares = team.template sum<A>(at.channels, [&](std::int64_t c) {
      const A around = value(c) - centre;
      return around * around;
    });
    team.once([&] {
      mean[row] = centre;
      factor[row] = A(1) / math::sqrt(squares / size + eps);
    });
  }
};

/// Layer norm: the means over each pixel's channels of g and of g * normalised(x). A row is a
/// pixel.
template <class T>
struct PixelGradientMeans {
  using A = Arithmetic<T>;
  Places at;
  NormFactors<T, true> factors;
  const T* x;
  const T* dy;
  A* mean_gradient;  // [n, pixels]
  A* slope;          // [n, pixels]
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t n = row / at.pixels, begin = at.offset(n, 0, row - n * at.pixels);
    const T* const values = x + begin;
    const T* const gradients = dy + begin;
    const auto gradient = [&](std::int64_t c) {
      return factors.scaled(static_cast<A>(gradients[at.channel_offset(c)]), c);
    };
    const A size = static_cast<A>(at.channels);
    const A first = team.template sum<A>(at.channels, gradient);
    const A second = team.template sum<A>(at.channels, [&](std::int64_t c) {
      return gradient(c) * factors.normalised(static_cast<A>(values[at.channel_offset(c)]), row);
    });
    team.once([&] {
      mean_gradient[row] = first / size;
      slope[row] = second / size;
    });
  }
};

/// Neighbouring channels of a whole map that are normalised together.
struct NormGroups {
  std::int64_t channels, pixels, size;  // size: channels of a group
  [[nodiscard]] TY_HD double elements() const { return static_cast<double>(size * pixels); }
};

/// An element of each group, from which its moments are counted: a large mean costs no precision.
/// Call i is for channel i % channels of sample i / channels.
template <class T>
struct GroupPivot {
  NormGroups groups;
  Places at;
  const T* x;
  Arithmetic<T>* pivot;  // [n, channels]
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t n = i / groups.channels, c = i - n * groups.channels;
    pivot[i] = x[at.offset(n, c - c % groups.size, 0)];
  }
};

/// x - pivot and its square, whose sums over a map sum_maps() takes.
template <class T>
struct PivotTerms {
  std::int64_t channels;
  const T* x;
  const Arithmetic<T>* pivot;
  TY_HD PairSum operator()(const ElementIndex& at) const {
    const double distance = static_cast<double>(static_cast<Arithmetic<T>>(x[at.offset])) -
                            static_cast<double>(pivot[at.n * channels + at.c]);
    return {distance, distance * distance};
  }
};

/// The means and factors of the channels of a group from the sums of its maps. Call i is for group
/// i % groups of sample i / groups.
template <class A>
struct GroupMoments {
  NormGroups groups;
  const PairSum* sums;  // [n, channels], of PivotTerms
  A* mean;              // [n, channels]; before: the pivots
  A* factor;            // [n, channels]
  double eps;
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t first = i * groups.size, end = first + groups.size;
    PairSum total = {};
    for (std::int64_t c = first; c < end; ++c) total += sums[c];
    const double shift = total.first / groups.elements();
    const double spread = total.second / groups.elements() - shift * shift;
    const A centre = static_cast<A>(static_cast<double>(mean[first]) + shift);
    const A scale = static_cast<A>(1 / math::sqrt((spread > 0 ? spread : 0) + eps));
    for (std::int64_t c = first; c < end; ++c) {
      mean[c] = centre;
      factor[c] = scale;
    }
  }
};

/// The means over each group of g and of g * normalised(x), for its channels. As GroupMoments.
template <class A>
struct GroupGradientMeans {
  NormGroups groups;
  const PairSum* sums;  // [n, channels], of NormTerms
  const A* gamma;       // [c], or null: 1
  A* mean_gradient;     // [n, channels]
  A* slope;             // [n, channels]
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t first = i * groups.size, end = first + groups.size;
    PairSum total = {};
    for (std::int64_t c = first; c < end; ++c) {
      const double weight = gamma == nullptr ? 1 : static_cast<double>(gamma[c % groups.channels]);
      total += PairSum{weight * sums[c].first, weight * sums[c].second};
    }
    for (std::int64_t c = first; c < end; ++c) {
      mean_gradient[c] = static_cast<A>(total.second / groups.elements());
      slope[c] = static_cast<A>(total.first / groups.elements());
    }
  }
};

/// The gradients of gamma and beta, either of which may be null, from the sums of maps: sample by
/// sample. Call c is for a channel.
template <class A>
struct GroupParameterGradients {
  const PairSum* sums;  // [n, channels], of NormTerms
  std::int64_t images, channels;
  A* gamma;
  A* beta;
  TY_HD void operator()(std::int64_t c) const {
    PairSum total = {};
    for (std::int64_t n = 0; n < images; ++n) total += sums[n * channels + c];
    if (gamma != nullptr) gamma[c] = static_cast<A>(total.first);
    if (beta != nullptr) beta[c] = static_cast<A>(total.second);
  }
};

struct NormFunctors : ChannelParameterFunctors<NormOp> {
  static constexpr std::array<std::string_view, 3> kOps{"layer_norm", "group_norm",
                                                        "instance_norm"};

  template <class T>
  [[nodiscard]] std::size_t reserve_bytes(const FunctorStep& step) const {
    return part_bytes<Arithmetic<T>>(step);
  }

  /// The sums, then means and factors of an evaluation, or the gradients' means.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    const bool training = step.pass == Pass::forward_train;
    return sum_bytes(step) + (training ? 0 : part_bytes<Arithmetic<T>>(step));
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (op.over_pixels()) {
      step.backward() ? backward<T, true>(step, tensors, launcher)
                      : forward<T, true>(step, tensors, launcher);
    } else {
      step.backward() ? backward<T, false>(step, tensors, launcher)
                      : forward<T, false>(step, tensors, launcher);
    }
  }

 private:
  template <class T, bool kPixels, class Launcher>
  void forward(const FunctorStep& step, const StepTensors& tensors,
               const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const bool training = step.pass == Pass::forward_train;
    const Places at(step.inputs[0]);
    const std::int64_t parts = parts_of(at), count = at.images * parts;
    A* const mean = static_cast<A*>(training ? tensors.reserve
                                             : address_at(tensors.workspace, sum_bytes(step)));
    A* const factor = mean + count;
    const T* const x = tensors.inputs[0].as<T>();
    if constexpr (kPixels) {
      launcher.rows(count, PixelMoments<T>{at, x, mean, factor, static_cast<A>(op.values().eps)});
    } else {
      const NormGroups groups = groups_in(at);
      PairSum* const sums = static_cast<PairSum*>(tensors.workspace);
      launcher.each(count, GroupPivot<T>{groups, at, x, mean});
      sum_maps(launcher, step.inputs[0], PivotTerms<T>{at.channels, x, mean}, sums,
               tensors.batch.finished);
      launcher.each(count / groups.size,
                    GroupMoments<A>{groups, sums, mean, factor, op.values().eps});
    }
    const NormFactors<T, kPixels> factors{parts, mean, factor, gamma_at<A>(tensors.parameters)};
    map_indexed<T>(launcher, tensors.outputs[0],
                   NormValue<T, kPixels>{factors, x, beta_at<A>(tensors.parameters)});
  }

  template <class T, bool kPixels, class Launcher>
  void backward(const FunctorStep& step, const StepTensors& tensors,
                const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const Places at(step.inputs[0]);
    const std::int64_t parts = parts_of(at), count = at.images * parts;
    const A* const mean = static_cast<const A*>(tensors.reserve);
    const A* const gamma = gamma_at<A>(tensors.parameters);
    const NormFactors<T, kPixels> factors{parts, mean, mean + count, gamma};
    const T* const x = tensors.inputs[0].as<T>();
    const T* const dy = tensors.output_gradients[0].as<T>();
    A* const gamma_gradient = gamma_at<A>(tensors.parameter_gradients);
    A* const beta_gradient = beta_at<A>(tensors.parameter_gradients);
    const NormTerms<T, kPixels> terms{factors, x, dy};
    const TensorView& dx = tensors.input_gradients[0];
    A* const mean_gradient = static_cast<A*>(address_at(tensors.workspace, sum_bytes(step)));
    A* const slope = mean_gradient + count;
    if constexpr (kPixels) {
      sum_gradients(step, tensors, launcher, terms, gamma_gradient, beta_gradient);
      if (dx.data == nullptr) return;
      launcher.rows(count, PixelGradientMeans<T>{at, factors, x, dy, mean_gradient, slope});
    } else {
      const NormGroups groups = groups_in(at);
      PairSum* const sums = static_cast<PairSum*>(tensors.workspace);
      sum_maps(launcher, step.inputs[0], terms, sums, tensors.batch.finished);
      launcher.each(at.channels, GroupParameterGradients<A>{sums, at.images, at.channels,
                                                            gamma_gradient, beta_gradient});
      if (dx.data == nullptr) return;
      launcher.each(count / groups.size,
                    GroupGradientMeans<A>{groups, sums, gamma, mean_gradient, slope});
    }
    map_indexed<T>(launcher, dx, NormGradient<T, kPixels>{factors, x, dy, mean_gradient, slope});
  }

  template <class A>
  [[nodiscard]] A* gamma_at(const std::vector<TensorView>& tensors) const {
    return op.values().scale ? data_at<A>(tensors, 0) : nullptr;
  }

  template <class A>
  [[nodiscard]] A* beta_at(const std::vector<TensorView>& tensors) const {
    return op.values().center ? data_at<A>(tensors, op.values().scale ? 1 : 0) : nullptr;
  }

  /// Parts of a sample that have a mean and a factor each.
  [[nodiscard]] std::int64_t parts_of(const Places& at) const {
    return op.over_pixels() ? at.pixels : at.channels;
  }

  /// Bytes of two values per part.
  template <class A>
  [[nodiscard]] std::size_t part_bytes(const FunctorStep& step) const {
    const Places at(step.inputs[0]);
    return 2 * static_cast<std::size_t>(at.images * parts_of(at)) * sizeof(A);
  }

  /// Bytes of the sums of a pass, which come first in the workspace.
  [[nodiscard]] std::size_t sum_bytes(const FunctorStep& step) const {
    if (op.over_pixels()) return ChannelParameterFunctors::workspace_bytes<float>(step);
    return map_sum_bytes(shape_of(step.inputs[0]));
  }

  [[nodiscard]] NormGroups groups_in(const Places& at) const {
    return {at.channels, at.pixels, at.channels / op.groups_of(at.channels)};
  }
};

/// The functors above.
using NormList = std::tuple<NormFunctors>;

}  // namespace trainyard
