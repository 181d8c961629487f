// Executors of batch norm from its functors over rows of channels, for any launcher. One does the
// work of its siblings too: each of its launches is of all of them.
//
// Gains of sums by columns, strips in flight, over the form before: 399 us of a step instead of 571
// for ResNet-20, 456 instead of 584 for MiniGoogLeNet (H100, bf16; docs/results/log/gpu.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "compute/executor.h"
#include "compute/norm/bn.h"
#include "launcher/siblings.h"

namespace trainyard {

/// Sizes of one batch norm and the parts that its passes share.
/// `Norm` is the executor of a pass, which derives from it.
template <class Norm, class T, class Launcher>
class BnRows : public Executor {
 public:
  using A = Arithmetic<T>;

  BnRows(const StepDescription& step, const Launcher& launcher)
      : launcher_(launcher),
        attributes_(op_as<BnOp>(step).values()),
        batch_(step),
        input_(step.inputs[0]),
        output_(step.outputs[0]),
        padded_(std::max(input_.padded, output_.padded)),
        packs_(input_.packs(kPack<T>) && output_.packs(kPack<T>) &&
               input_.padded == output_.padded),
        form_{step.pass,
              packs_ && !attributes_.residual,
              attributes_.relu,
              step.form.adds_gradient,
              !step.needs_input_gradient.empty() && step.needs_input_gradient[0],
              attributes_.fixed} {
    form_.leaves_sums = can_leave_sums() && left_grid<Sums<kPack<T>>>(input_.count, padded_).left;
    TY_CHECK(!attributes_.residual || step.inputs[1] == step.inputs[0],
             "a residual has the layout of the tensor that it is added to");
    TY_CHECK(input_.count * padded_ <= std::numeric_limits<std::uint32_t>::max(),
             "a batch norm's elements are counted in 32 bits");
  }
  [[nodiscard]] bool add_sibling(const Executor& next) final {
    const auto* const sibling = dynamic_cast<const Norm*>(&next);
    const bool joins = sibling != nullptr && siblings_.size() + 1 < kMostSiblings &&
                       form_.has_siblings && sibling->form_ == form_;
    if (joins) siblings_.push_back(sibling);
    return joins;
  }

 protected:
  [[nodiscard]] std::size_t factor_bytes() const {
    return static_cast<std::size_t>(ChannelFactors<A>::elements(padded_)) * sizeof(A);
  }
  [[nodiscard]] std::size_t partial_bytes() const {
    return static_cast<std::size_t>(column_partials(input_.count, padded_)) * sizeof(PairSum);
  }
  /// Bytes of the columns' partial sums, followed by all replicas' sums.
  [[nodiscard]] std::size_t sum_bytes() const { return partial_bytes() + batch_.bytes(padded_); }
  void bind_sums(const StepTensors& tensors) {
    partials_ = static_cast<PairSum*>(tensors.workspace);
    batch_.bind(static_cast<std::byte*>(tensors.workspace) + partial_bytes());
    finished_ = tensors.batch.finished;
  }
  /// Values per channel, of all replicas.
  [[nodiscard]] double all() const { return batch_.values(input_.count); }
  template <class F>
  void for_each_norm(const F& f) const {
    f(static_cast<const Norm&>(*this));
    for (const Norm* sibling : siblings_) f(*sibling);
  }
  /// One launch of each(): of call_of(norm) of each norm, an EachCall.
  template <class CallOf>
  void each(const CallOf& call_of) const {
    Siblings<std::invoke_result_t<CallOf, const Norm&>> calls;
    for_each_norm([&](const Norm& norm) { calls.add(call_of(norm)); });
    launcher_.each(calls);
  }
  /// One launch of columns(): of the functor of each norm, over its rows and channels.
  template <class FunctorOf>
  void sum_channels(const FunctorOf& functor_of) const {
    using F = std::invoke_result_t<FunctorOf, const Norm&>;
    Siblings<ColumnsCall<F>> calls;
    for_each_norm([&](const Norm& norm) {
      calls.add({norm.template grid<F::kColumns>(), functor_of(norm), norm.partials_});
    });
    launcher_.columns(calls, finished_);
  }
  /// One launch of the elementwise functor of each norm. If sum_channels() has left its sums, the
  /// launch finishes them by settle_of(norm).
  template <class SettleOf, class RowsOf>
  void each_settled(const SettleOf& settle_of, const RowsOf& rows_of) const {
    using Settle = std::invoke_result_t<SettleOf, const Norm&>;
    using F = std::invoke_result_t<RowsOf, const Norm&>;
    constexpr int kTogether = F::Calls::kPack;
    if constexpr (Launcher::kSettles && kTogether > 1) {
      if (form_.leaves_sums) {
        Siblings<SettledCall<Settle, F>> calls;
        for_each_norm([&](const Norm& norm) {
          calls.add(
              {norm.template grid<kTogether>(), norm.partials_, settle_of(norm), rows_of(norm)});
        });
        return launcher_.settled(calls);
      }
    }
    each([&](const Norm& norm) {
      const F rows = rows_of(norm);
      return EachCall<F>{rows.calls().all(), rows};
    });
  }
  /// What follows from the sums of all replicas; with one replica it is done where they are
  /// finished.
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

 private:
  /// Which launches of which functors a norm has.
  struct Form {
    Pass pass;
    bool has_siblings, relu, adds, wants_gradient, fixed;
    bool leaves_sums = false;  // the second launch adds them
    bool operator==(const Form&) const = default;
  };
  template <int P>
  using Sums = BatchMoments<T, P>;  // GradientSums are split alike

  /// Whether the second launch can finish the sums, if they are few. (Sums of several replicas are
  /// joined between the launches.)
  [[nodiscard]] bool can_leave_sums() const {
    const bool needed = (form_.pass == Pass::forward_train && !form_.fixed) ||
                        (form_.pass == Pass::backward_data && form_.wants_gradient);
    return Launcher::kSettles && packs_ && needed && !batch_.joined();
  }
  template <int P>
  [[nodiscard]] ColumnGrid grid() const {
    return form_.leaves_sums ? left_grid<Sums<P>>(input_.count, padded_)
                             : column_grid<Sums<P>>(input_.count, padded_);
  }

  Form form_;
  std::vector<const Norm*> siblings_;
};

template <class T, class Launcher>
class BnRowsForward final : public BnRows<BnRowsForward<T, Launcher>, T, Launcher> {
  using Base = BnRows<BnRowsForward, T, Launcher>;
  friend Base;
  using Norm = BnRowsForward;
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
    if (sums()) this->bind_sums(tensors);
    x_ = tensors.inputs[0].template as<T>();
    if (this->attributes_.residual) residual_ = tensors.inputs[1].template as<T>();
    y_ = tensors.outputs[0].template as<T>();
    mean_ = tensors.batch_statistics[0].template as<A>();
    variance_ = tensors.batch_statistics[1].template as<A>();
    if (!evaluates() && !this->attributes_.fixed) return;
    running_ = {factors_, tensors.running[0].template as<A>(), tensors.running[1].template as<A>(),
                evaluates() ? nullptr : mean_, variance_};
  }
  void run() override {
    if (sums()) {
      this->packs_ ? sum_moments<kPack<T>>() : sum_moments<1>();
      this->for_each_norm([](const Norm& norm) { norm.join_channels(norm.settle()); });
    } else if (pass_ != Pass::recompute) {
      this->each([](const Norm& norm) {
        return EachCall<RunningFactors<A>>{norm.padded_, norm.running_};
      });
    }
    this->packs_ ? normalise<kPack<T>>() : normalise<1>();
  }

 private:
  [[nodiscard]] bool evaluates() const { return pass_ == Pass::forward_eval; }
  [[nodiscard]] bool sums() const {
    return pass_ == Pass::forward_train && !this->attributes_.fixed;
  }
  void bind_parameters(const StepTensors& tensors) {
    std::size_t next = 0;
    if (this->attributes_.scale) factors_.gamma = tensors.parameters[next++].template as<A>();
    if (this->attributes_.center) factors_.beta = tensors.parameters[next].template as<A>();
    factors_.eps = static_cast<A>(this->attributes_.eps);
    factors_.channels = this->input_.channels;
    factors_.out =
        ChannelFactors<A>::at(evaluates() ? tensors.workspace : tensors.reserve, this->padded_);
  }
  [[nodiscard]] SettleMoments<A> settle() const {
    return {mean_,       variance_,          factors_, static_cast<double>(this->input_.count),
            this->all(), this->batch_.sums()};
  }
  template <int P>
  [[nodiscard]] BatchMoments<T, P> moments() const {
    return {this->input_, x_, settle()};
  }
  template <int P>
  void sum_moments() const {
    this->sum_channels([](const Norm& norm) { return norm.template moments<P>(); });
  }
  template <int P>
  void normalise() const {
    if (this->attributes_.residual) return normalise<P, true, true>();
    this->attributes_.relu ? normalise<P, true, false>() : normalise<P, false, false>();
  }
  template <int P, bool kRelu, bool kResidual>
  void normalise() const {
    this->each_settled([](const Norm& norm) { return norm.template moments<P>(); },
                       [](const Norm& norm) {
                         return NormaliseRows<T, P, kRelu, kResidual>{
                             norm.input_,    norm.output_, norm.x_,
                             norm.residual_, norm.y_,      norm.factors_.out};
                       });
  }

  Pass pass_;
  MakeChannelFactors<A> factors_{};
  const T* x_ = nullptr;
  const T* residual_ = nullptr;
  T* y_ = nullptr;
  RunningFactors<A> running_{};
  A* mean_ = nullptr;  // means of the batch
  A* variance_ = nullptr;
};

template <class T, class Launcher>
class BnRowsBackward final : public BnRows<BnRowsBackward<T, Launcher>, T, Launcher> {
  using Base = BnRows<BnRowsBackward, T, Launcher>;
  friend Base;
  using Norm = BnRowsBackward;
  using A = typename Base::A;

 public:
  BnRowsBackward(const StepDescription& step, const Launcher& launcher)
      : Base(step, launcher), adds_(step.form.adds_gradient) {
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
    this->for_each_norm([](const Norm& norm) { norm.join_channels(norm.settle_); });
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
    this->sum_channels([](const Norm& norm) {
      return GradientSums<T, P, kCut>{norm.tensors_, norm.residual_, norm.settle_};
    });
  }
  template <int P>
  void input_gradient() const {
    const bool cut = this->attributes_.relu && residual_.y == nullptr;
    if (adds_) return cut ? input_gradient<P, true, true>() : input_gradient<P, false, true>();
    cut ? input_gradient<P, true, false>() : input_gradient<P, false, false>();
  }
  template <int P, bool kRelu, bool kAdds>
  void input_gradient() const {
    this->each_settled([](const Norm& norm) { return norm.settle_; },
                       [](const Norm& norm) {
                         return InputGradientRows<T, P, kRelu, kAdds>{
                             norm.second_pass(), norm.settle_.factors, norm.dx_};
                       });
  }

  bool adds_;
  GradientRows<T> tensors_;
  ResidualGradient<T> residual_;
  T* dx_ = nullptr;
  SettleGradients<A> settle_{};
};

}  // namespace trainyard
