// Executors of batch norm and pooling from their functors, for any launcher.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "exec/executor.h"
#include "exec/functor/bn.h"
#include "exec/functor/pool.h"
#include "ops/elementwise.h"

namespace trainyard {

/// On the CPU's launchers: the executor of bn or of a pooling op, in any float type; null for other
/// ops. The CPU itself uses it for batch norm over features and channels last; else it is for tests
/// of the functors.
[[nodiscard]] std::unique_ptr<Executor> make_channel_executor(const StepDescription& step);

/// Sizes of one batch norm and the parts that its passes share.
template <class T, class Launcher>
class BnRows : public Executor {
 public:
  using A = Arithmetic<T>;

  BnRows(const StepDescription& step, const Launcher& launcher)
      : launcher_(launcher),
        attributes_(static_cast<const BnOp&>(*step.op).values()),
        batch_(step),
        input_(step.inputs[0]),
        output_(step.outputs[0]),
        padded_(std::max(input_.padded, output_.padded)),
        packs_(input_.packs(kPack<T>) && output_.packs(kPack<T>) &&
               input_.padded == output_.padded) {
    TY_CHECK(!attributes_.residual || step.inputs[1] == step.inputs[0],
             "a residual has the layout of the tensor that it is added to");
    TY_CHECK(input_.count * padded_ <= std::numeric_limits<std::uint32_t>::max(),
             "a batch norm's elements are counted in 32 bits");
  }

 protected:
  [[nodiscard]] std::size_t factor_bytes() const {
    return static_cast<std::size_t>(ChannelFactors<A>::elements(padded_)) * sizeof(A);
  }
  [[nodiscard]] std::size_t partial_bytes() const {
    return static_cast<std::size_t>(column_partials(input_.count, padded_)) * sizeof(PairSum);
  }
  /// Of the columns' partial sums, followed by all replicas' sums.
  [[nodiscard]] std::size_t sum_bytes() const { return partial_bytes() + batch_.bytes(padded_); }
  void bind_sums(const StepTensors& tensors) {
    partials_ = static_cast<PairSum*>(tensors.workspace);
    batch_.bind(static_cast<std::byte*>(tensors.workspace) + partial_bytes());
    finished_ = tensors.batch.finished;
  }
  /// Values per channel, of all replicas.
  [[nodiscard]] double all() const { return static_cast<double>(input_.count) * batch_.replicas(); }
  template <class F>
  void sum_channels(const F& sums) const {
    launcher_.columns(input_.count, padded_, sums, partials_, finished_);
  }
  /// What follows from the sums of all replicas; with one replica columns() has done it.
  template <class F>
  void join_channels(const F& settle) const {
    if (!batch_.joined()) return;
    batch_.sum(input_.channels);
    launcher_.each(padded_, settle);
  }

  Launcher launcher_;
  BnAttributes attributes_;
  SyncedBatch batch_;
  ChannelRows input_, output_;
  std::int64_t padded_;
  bool packs_;
  PairSum* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

template <class T, class Launcher>
class BnRowsForward final : public BnRows<T, Launcher> {
  using Base = BnRows<T, Launcher>;
  using A = typename Base::A;

 public:
  BnRowsForward(const StepDescription& step, const Launcher& launcher)
      : Base(step, launcher), pass_(step.pass) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (pass_ == Pass::recompute) return 0;
    return evaluates() ? this->factor_bytes() : this->sum_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    return evaluates() ? 0 : this->factor_bytes();
  }
  void bind(const StepTensors& tensors) override {
    bind_parameters(tensors);
    if (pass_ == Pass::forward_train) this->bind_sums(tensors);
    x_ = tensors.inputs[0].template as<T>();
    if (this->attributes_.residual) residual_ = tensors.inputs[1].template as<T>();
    y_ = tensors.outputs[0].template as<T>();
    const auto& statistics = evaluates() ? tensors.running : tensors.batch_statistics;
    mean_ = statistics[0].template as<A>();
    variance_ = statistics[1].template as<A>();
  }
  void run() override {
    if (pass_ == Pass::forward_train) {
      const SettleMoments<A> settle{mean_,       variance_,
                                    factors_,    static_cast<double>(this->input_.count),
                                    this->all(), this->batch_.sums()};
      this->packs_ ? this->sum_channels(BatchMoments<T, kPack<T>>{this->input_, x_, settle})
                   : this->sum_channels(BatchMoments<T, 1>{this->input_, x_, settle});
      this->join_channels(settle);
    } else if (evaluates()) {
      this->launcher_.each(this->padded_, RunningFactors<A>{factors_, mean_, variance_});
    }
    this->packs_ ? normalise<kPack<T>>() : normalise<1>();
  }

 private:
  [[nodiscard]] bool evaluates() const { return pass_ == Pass::forward_eval; }
  void bind_parameters(const StepTensors& tensors) {
    std::size_t next = 0;
    if (this->attributes_.scale) factors_.gamma = tensors.parameters[next++].template as<A>();
    if (this->attributes_.center) factors_.beta = tensors.parameters[next].template as<A>();
    factors_.eps = static_cast<A>(this->attributes_.eps);
    factors_.channels = this->input_.channels;
    factors_.out =
        ChannelFactors<A>::at(evaluates() ? tensors.workspace : tensors.reserve, this->padded_);
  }
  template <int P>
  void normalise() const {
    if (this->attributes_.residual) return normalise<P, true, true>();
    this->attributes_.relu ? normalise<P, true, false>() : normalise<P, false, false>();
  }
  template <int P, bool kRelu, bool kResidual>
  void normalise() const {
    this->launcher_.each(bn_calls<P>(this->output_),
                         NormaliseRows<T, P, kRelu, kResidual>{this->input_, this->output_, x_,
                                                               residual_, y_, factors_.out});
  }

  Pass pass_;
  MakeChannelFactors<A> factors_{};
  const T* x_ = nullptr;
  const T* residual_ = nullptr;
  T* y_ = nullptr;
  A* mean_ = nullptr;  // written in training, else read
  A* variance_ = nullptr;
};

template <class T, class Launcher>
class BnRowsBackward final : public BnRows<T, Launcher> {
  using Base = BnRows<T, Launcher>;
  using A = typename Base::A;

 public:
  BnRowsBackward(const StepDescription& step, const Launcher& launcher)
      : Base(step, launcher), adds_(step.adds_gradient) {
    TY_CHECK(!adds_ || !this->attributes_.residual,
             "only one gradient of an input can be added to");
  }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return this->sum_bytes() +
           static_cast<std::size_t>(GradientFactors<A>::elements(this->padded_)) * sizeof(A);
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return this->factor_bytes(); }
  void bind(const StepTensors& tensors) override {
    tensors_ = {this->input_, this->output_, tensors.inputs[0].template as<T>(),
                tensors.output_gradients[0].template as<T>(),
                ChannelFactors<A>::at(tensors.reserve, this->padded_)};
    dx_ = tensors.input_gradients[0].template as<T>();
    if (this->attributes_.residual) bind_residual(tensors);
    this->bind_sums(tensors);
    bind_settle(tensors);
  }
  void run() override {
    this->packs_ ? sum_gradient<kPack<T>>() : sum_gradient<1>();
    if (dx_ == nullptr) return;  // the joint means are not needed
    this->join_channels(settle_);
    this->packs_ ? input_gradient<kPack<T>>() : input_gradient<1>();
  }

 private:
  /// If the residual's gradient is not needed, it is stored in the input's until the second pass.
  void bind_residual(const StepTensors& tensors) {
    T* const wanted = tensors.input_gradients[1].template as<T>();
    residual_ = {tensors.outputs[0].template as<T>(), wanted != nullptr ? wanted : dx_};
  }
  void bind_settle(const StepTensors& tensors) {
    void* const constants = static_cast<std::byte*>(tensors.workspace) + this->sum_bytes();
    settle_.variance = tensors.batch_statistics[1].template as<A>();
    settle_.eps = static_cast<A>(this->attributes_.eps);
    settle_.channels = this->input_.channels;
    settle_.factors = GradientFactors<A>::at(constants, this->padded_);
    settle_.all = this->all();
    settle_.joint = this->batch_.sums();
    const auto& gradients = tensors.parameter_gradients;
    if (gradients.empty()) return;  // not needed
    std::size_t next = 0;
    if (this->attributes_.scale) settle_.gamma_gradient = gradients[next++].template as<A>();
    if (this->attributes_.center) settle_.beta_gradient = gradients[next].template as<A>();
  }
  /// The input of the second pass: dy, or with a residual its gradient, which is masked already.
  [[nodiscard]] GradientRows<T> second_pass() const {
    GradientRows<T> tensors = tensors_;
    if (residual_.y == nullptr) return tensors;
    tensors.output = this->input_;
    tensors.dy = residual_.gradient;
    return tensors;
  }
  template <int P>
  void sum_gradient() const {
    if (residual_.y == nullptr) {
      return this->attributes_.relu ? sum_gradient<P, ReluCut::by_input>()
                                    : sum_gradient<P, ReluCut::none>();
    }
    residual_.gradient != nullptr ? sum_gradient<P, ReluCut::kept>()
                                  : sum_gradient<P, ReluCut::by_output>();
  }
  template <int P, ReluCut kCut>
  void sum_gradient() const {
    this->sum_channels(GradientSums<T, P, kCut>{tensors_, residual_, settle_});
  }
  template <int P>
  void input_gradient() const {
    const bool cut = this->attributes_.relu && residual_.y == nullptr;
    if (adds_) return cut ? input_gradient<P, true, true>() : input_gradient<P, false, true>();
    cut ? input_gradient<P, true, false>() : input_gradient<P, false, false>();
  }
  template <int P, bool kRelu, bool kAdds>
  void input_gradient() const {
    this->launcher_.each(bn_calls<P>(this->input_), InputGradientRows<T, P, kRelu, kAdds>{
                                                        second_pass(), settle_.factors, dx_});
  }

  bool adds_;
  GradientRows<T> tensors_;
  ResidualGradient<T> residual_;
  T* dx_ = nullptr;
  SettleGradients<A> settle_{};
};

/// Both passes of both kinds of pooling. The taps of a maximum are stored in the reserve.
template <class T, class Launcher>
class PoolRows final : public Executor {
 public:
  PoolRows(const StepDescription& step, const Launcher& launcher)
      : launcher_(launcher),
        pass_(step.pass),
        attributes_(static_cast<const PoolOp&>(*step.op).values()),
        maps_(maps_of(step)),
        packs_(in_packs(maps_.input) && in_packs(maps_.output) &&
               maps_.input.padded_channels == maps_.output.padded_channels),
        small_taps_(maps_.h.size * maps_.w.size <= 256) {
    maps_.packs = static_cast<std::uint32_t>(packs_ ? maps_.input.padded_channels / kPack<T>
                                                    : maps_.input.extent[1]);
    const std::int64_t largest = std::max(calls(maps_.h.input, maps_.w.input), output_calls());
    TY_CHECK(largest <= std::numeric_limits<std::uint32_t>::max(),
             "a pooling's elements are counted in 32 bits");
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    if (!is_max() || pass_ == Pass::forward_eval) return 0;
    const std::size_t tap = small_taps_ ? sizeof(std::uint8_t) : sizeof(std::int32_t);
    return static_cast<std::size_t>(output_calls()) * (packs_ ? kPack<T> : 1) * tap;
  }
  /// Of the partial sums of whole maps.
  [[nodiscard]] std::size_t workspace_bytes() const override {
    if (!is_map_mean()) return 0;
    const std::int64_t columns = maps_.input.extent[0] * maps_.input.padded_channels;
    return static_cast<std::size_t>(column_partials(pixels(), columns)) * sizeof(double);
  }
  void bind(const StepTensors& tensors) override {
    partials_ = static_cast<double*>(tensors.workspace);
    finished_ = tensors.batch.finished;
    const bool backward = pass_ == Pass::backward_data;
    input_ = backward ? tensors.input_gradients[0] : tensors.inputs[0];
    output_ = backward ? tensors.output_gradients[0] : tensors.outputs[0];
    taps_ = pass_ == Pass::forward_eval ? nullptr : tensors.reserve;
  }
  void run() override {
    if (is_map_mean()) return sum_maps();
    if (packs_) return run_packs<kPack<T>>();
    run_packs<1>();
    zero_padding<T>(launcher_, pass_ == Pass::backward_data ? input_ : output_);
  }

 private:
  static PoolMaps maps_of(const StepDescription& step) {
    const Layout &input = step.inputs[0], &output = step.outputs[0];
    return {pool_axes(static_cast<const PoolOp&>(*step.op), shape_of(input)), input, output, 1};
  }
  static bool in_packs(const Layout& layout) {
    const auto whole = [](std::int64_t stride) { return stride % kPack<T> == 0; };
    const bool pixels = layout.extent[2] * layout.extent[3] == 1 ||
                        (whole(layout.stride[2]) && whole(layout.stride[3]));
    return layout.block == 1 && layout.stride[1] == 1 && whole(layout.padded_channels) &&
           whole(layout.stride[0]) && pixels;
  }
  [[nodiscard]] bool is_max() const { return attributes_.kind == PoolAttributes::Kind::max; }
  [[nodiscard]] std::int64_t calls(std::int64_t height, std::int64_t width) const {
    return maps_.input.extent[0] * height * width * maps_.packs;
  }
  [[nodiscard]] std::int64_t output_calls() const { return calls(maps_.h.output, maps_.w.output); }
  [[nodiscard]] std::int64_t pixels() const { return maps_.h.input * maps_.w.input; }
  /// True for the output of an average over whole maps.
  [[nodiscard]] bool is_map_mean() const {
    const auto whole = [](const PoolAxis& axis) {
      return axis.output == 1 && axis.size == axis.input && axis.before == 0;
    };
    return packs_ && !is_max() && pass_ != Pass::backward_data && whole(maps_.h) && whole(maps_.w);
  }
  void sum_maps() const {
    launcher_.columns(pixels(), maps_.input.extent[0] * maps_.input.padded_channels,
                      MapMeans<T, kPack<T>>{ChannelRows(maps_.input), maps_.output,
                                            input_.template as<T>(), output_.template as<T>()},
                      partials_, finished_);
  }
  template <int P>
  void run_packs() const {
    if (!is_max()) return average<P>();
    small_taps_ ? maximum<P, std::uint8_t>() : maximum<P, std::int32_t>();
  }
  template <int P, class Tap>
  void maximum() const {
    T* const x = input_.as<T>();
    T* const y = output_.as<T>();
    Tap* const taps = static_cast<Tap*>(taps_);
    if (pass_ == Pass::backward_data) {
      launcher_.each(calls(maps_.h.input, maps_.w.input),
                     MaxPoolGradient<T, P, Tap>{maps_, y, taps, x});
    } else {
      launcher_.each(output_calls(), MaxPoolWindow<T, P, Tap>{maps_, x, y, taps});
    }
  }
  template <int P>
  void average() const {
    T* const x = input_.as<T>();
    T* const y = output_.as<T>();
    if (pass_ == Pass::backward_data) {
      launcher_.each(calls(maps_.h.input, maps_.w.input),
                     AveragePoolGradient<T, P>{maps_, y, x, attributes_.count_pad});
    } else {
      launcher_.each(output_calls(), AveragePoolWindow<T, P>{maps_, x, y, attributes_.count_pad});
    }
  }

  Launcher launcher_;
  Pass pass_;
  PoolAttributes attributes_;
  PoolMaps maps_;
  bool packs_;
  bool small_taps_;
  TensorView input_, output_;  // or their gradients
  void* taps_ = nullptr;
  double* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

/// The executor on `launcher`, stored in T; null for ops that are neither bn nor a pooling.
template <class T, class Launcher>
std::unique_ptr<Executor> make_channels_as(const StepDescription& step, const Launcher& launcher) {
  static constexpr std::array<std::string_view, 4> kPools{"max_pool", "avg_pool", "global_max_pool",
                                                          "global_avg_pool"};
  const std::string_view type = step.op->type();
  if (std::ranges::find(kPools, type) != kPools.end()) {
    return std::make_unique<PoolRows<T, Launcher>>(step, launcher);
  }
  if (type != "bn") return nullptr;
  if (step.pass == Pass::backward_data) {
    return std::make_unique<BnRowsBackward<T, Launcher>>(step, launcher);
  }
  return std::make_unique<BnRowsForward<T, Launcher>>(step, launcher);
}

}  // namespace trainyard
