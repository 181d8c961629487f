// Normalisations within a sample: layer, group and instance norm.
#pragma once

#include <string>

#include "base/math.h"
#include "base/offset_allocator.h"
#include "ops/affine.h"

namespace trainyard {

/// The sets of values that are normalised together: `set_channels` neighbouring channels of
/// `set_pixels` pixels (one, or all of an image). A set's elements are counted in the order of
/// memory, pixel by pixel, or channel by channel where channels are apart.
struct NormSets {
  Places at;
  std::int64_t groups = 1, set_channels = 1, set_pixels = 1;
  Divisor by_channels, by_inner;  // of a channel's index, and of an element's in its set

  [[nodiscard]] TY_HD std::int64_t size() const { return set_channels * set_pixels; }
  [[nodiscard]] TY_HD bool by_pixel() const { return at.lanes() > 1; }
  /// Elements of a set that are counted first: the channels of a pixel, or the pixels of a channel.
  [[nodiscard]] TY_HD std::uint32_t inner() const {
    return static_cast<std::uint32_t>(by_pixel() ? set_channels : set_pixels);
  }
  /// [n][pixel, or one][group].
  [[nodiscard]] TY_HD std::int64_t count() const {
    return at.images * (at.pixels / set_pixels) * groups;
  }
  /// The set of an element.
  [[nodiscard]] TY_HD std::int64_t of(const Place& place) const {
    const std::int64_t part = set_pixels == 1 ? place.n * at.pixels + place.pixel : place.n;
    return part * groups + by_channels(static_cast<std::uint32_t>(place.c));
  }
  /// Element `i` of a set.
  [[nodiscard]] TY_HD Place element(std::int64_t set, std::int64_t i) const {
    const std::int64_t part = set / groups, first = set % groups * set_channels;
    const std::uint32_t high = by_inner(static_cast<std::uint32_t>(i));
    const std::uint32_t low = static_cast<std::uint32_t>(i) - high * inner();
    const std::int64_t c = first + (by_pixel() ? low : high);
    std::int64_t n = part, pixel = by_pixel() ? high : low;
    if (set_pixels == 1) {
      n = part / at.pixels;
      pixel = part - n * at.pixels;
    }
    return {n, c, pixel, at.offset(n, c, pixel)};
  }
};

/// The mean of each set and 1 / sqrt(variance + eps), with the biased variance. A row is a set. Two
/// passes, so that a large mean costs no precision.
template <class T>
struct NormMoments {
  using A = Arithmetic<T>;
  NormSets sets;
  const T* x;
  A* mean;    // [sets]
  A* factor;  // [sets]
  A eps;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t set) const {
    const auto value = [&](std::int64_t i) -> A { return x[sets.element(set, i).offset]; };
    const A size = static_cast<A>(sets.size());
    const A centre = team.template sum<A>(sets.size(), value) / size;
    const A squares = team.template sum<A>(sets.size(), [&](std::int64_t i) {
      const A around = value(i) - centre;
      return around * around;
    });
    team.once([&] {
      mean[set] = centre;
      factor[set] = A(1) / math::sqrt(squares / size + eps);
    });
  }
};

/// What both passes read of every set and channel.
template <class T>
struct NormFactors {
  using A = Arithmetic<T>;
  NormSets sets;
  const A* mean;
  const A* factor;
  const A* gamma;  // [c], or null: 1

  /// (x - mean) / sqrt(variance + eps).
  TY_HD A normalised(A x, std::int64_t set) const { return (x - mean[set]) * factor[set]; }
  TY_HD A scaled(A value, std::int64_t c) const {
    return gamma == nullptr ? value : value * gamma[c];
  }
};

/// y = gamma[c] * normalised(x) + beta[c].
template <class T>
struct NormValue {
  using A = Arithmetic<T>;
  NormFactors<T> factors;
  const T* x;
  const A* beta;  // [c], or null: 0
  TY_HD A operator()(const Place& at) const {
    const A value = factors.normalised(static_cast<A>(x[at.offset]), factors.sets.of(at));
    const A scaled = factors.scaled(value, at.c);
    return beta == nullptr ? scaled : scaled + beta[at.c];
  }
};

/// The means over each set of g = gamma[c] * dy and of g * normalised(x). A row is a set.
template <class T>
struct NormGradientMeans {
  using A = Arithmetic<T>;
  NormFactors<T> factors;
  const T* x;
  const T* dy;
  A* mean_gradient;  // [sets]
  A* slope;          // [sets]
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t set) const {
    const NormSets& sets = factors.sets;
    const auto gradient = [&](const Place& at) {
      return factors.scaled(static_cast<A>(dy[at.offset]), at.c);
    };
    const A size = static_cast<A>(sets.size());
    const A first = team.template sum<A>(
        sets.size(), [&](std::int64_t i) { return gradient(sets.element(set, i)); });
    const A second = team.template sum<A>(sets.size(), [&](std::int64_t i) {
      const Place at = sets.element(set, i);
      return gradient(at) * factors.normalised(static_cast<A>(x[at.offset]), set);
    });
    team.once([&] {
      mean_gradient[set] = first / size;
      slope[set] = second / size;
    });
  }
};

/// dx = (g - mean(g) - normalised(x) * mean(g * normalised(x))) / sqrt(variance + eps) (Ba et al.
/// 2016; Wu and He 2018). dx may be dy.
template <class T>
struct NormGradient {
  using A = Arithmetic<T>;
  NormFactors<T> factors;
  const T* x;
  const T* dy;
  const A* mean_gradient;
  const A* slope;
  TY_HD A operator()(const Place& at) const {
    const std::int64_t set = factors.sets.of(at);
    const A gradient = factors.scaled(static_cast<A>(dy[at.offset]), at.c);
    const A value = factors.normalised(static_cast<A>(x[at.offset]), set);
    return factors.factor[set] * (gradient - mean_gradient[set] - value * slope[set]);
  }
};

/// The terms of the gradients of gamma, dy * normalised(x), and of beta, dy.
template <class T>
struct NormTerms {
  using A = Arithmetic<T>;
  NormFactors<T> factors;
  const T* x;
  const T* dy;
  TY_HD PairSum operator()(const Place& at) const {
    const double gradient = static_cast<A>(dy[at.offset]);
    const A value = factors.normalised(static_cast<A>(x[at.offset]), factors.sets.of(at));
    return {gradient * static_cast<double>(value), gradient};
  }
};

struct NormAttributes {
  enum class Kind { layer, group, instance } kind = Kind::group;
  std::int64_t groups = 32;  // kind group
  double eps = 1e-3;
  bool scale = true;   // gamma
  bool center = true;  // beta
};

/// [n, c] or [n, c, h, w] to the same shape. YAML names: layer_norm, over the channels of each
/// pixel (Keras, ConvNeXt); group_norm, over neighbouring channels of a whole map; instance_norm,
/// over each channel of a map. Parameters: gamma and beta (each [c], if enabled). In training the
/// means and factors are kept in the reserve.
class NormOp final : public ChannelParameterOp {
 public:
  explicit NormOp(NormAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override;
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] std::string attributes() const override;

  template <class T>
  [[nodiscard]] std::size_t reserve_bytes(const FunctorStep& step) const {
    return set_bytes<Arithmetic<T>>(step);
  }
  /// The means and factors of an evaluation, or the gradients' means and the columns' sums.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    if (step.pass == Pass::forward_train) return 0;
    return ChannelParameterOp::workspace_bytes<T>(step) + set_bytes<Arithmetic<T>>(step);
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    step.backward() ? backward<T>(step, tensors, launcher) : forward<T>(step, tensors, launcher);
  }

 protected:
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t channels) const override;

 private:
  template <class T, class Launcher>
  void forward(const FunctorStep& step, const StepTensors& tensors,
               const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const bool training = step.pass == Pass::forward_train;
    const NormSets sets = sets_of(step.inputs[0]);
    A* const mean = static_cast<A*>(training ? tensors.reserve : tensors.workspace);
    A* const factor = mean + sets.count();
    const T* const x = tensors.inputs[0].as<T>();
    launcher.rows(sets.count(),
                  NormMoments<T>{sets, x, mean, factor, static_cast<A>(attributes_.eps)});
    const NormFactors<T> factors{sets, mean, factor, gamma_at<A>(tensors.parameters)};
    map_places<T>(launcher, tensors.outputs[0],
                  NormValue<T>{factors, x, beta_at<A>(tensors.parameters)});
  }
  template <class T, class Launcher>
  void backward(const FunctorStep& step, const StepTensors& tensors,
                const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const NormSets sets = sets_of(step.inputs[0]);
    const A* const mean = static_cast<const A*>(tensors.reserve);
    const NormFactors<T> factors{sets, mean, mean + sets.count(), gamma_at<A>(tensors.parameters)};
    const T* const x = tensors.inputs[0].as<T>();
    const T* const dy = tensors.output_gradients[0].as<T>();
    if (attributes_.scale || attributes_.center) {
      sum_gradients(step, tensors, launcher, NormTerms<T>{factors, x, dy},
                    gamma_at<A>(tensors.parameter_gradients),
                    beta_at<A>(tensors.parameter_gradients));
    }
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data == nullptr) return;
    A* const mean_gradient = static_cast<A*>(
        address_at(tensors.workspace, ChannelParameterOp::workspace_bytes<T>(step)));
    A* const slope = mean_gradient + sets.count();
    launcher.rows(sets.count(), NormGradientMeans<T>{factors, x, dy, mean_gradient, slope});
    map_places<T>(launcher, dx, NormGradient<T>{factors, x, dy, mean_gradient, slope});
  }
  template <class A>
  [[nodiscard]] A* gamma_at(const std::vector<TensorView>& tensors) const {
    return attributes_.scale ? data_at<A>(tensors, 0) : nullptr;
  }
  template <class A>
  [[nodiscard]] A* beta_at(const std::vector<TensorView>& tensors) const {
    return attributes_.center ? data_at<A>(tensors, attributes_.scale ? 1 : 0) : nullptr;
  }
  /// Of two values per set.
  template <class A>
  [[nodiscard]] std::size_t set_bytes(const FunctorStep& step) const {
    return 2 * static_cast<std::size_t>(sets_of(step.inputs[0]).count()) * sizeof(A);
  }
  [[nodiscard]] std::int64_t groups_of(std::int64_t channels) const;
  [[nodiscard]] NormSets sets_of(const Layout& layout) const;

  NormAttributes attributes_;
};

[[nodiscard]] config::Kind<Op> layer_norm_kind();
[[nodiscard]] config::Kind<Op> group_norm_kind();
[[nodiscard]] config::Kind<Op> instance_norm_kind();

}  // namespace trainyard
