#include <algorithm>

#include "base/error.h"
#include "base/math.h"
#include "compute/devices/reference_executors.h"
#include "compute/norm/bn_formulas.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"
#include "ops/bn.h"

namespace trainyard::reference {
namespace {

/// The elements of one channel: `images` stretches of `positions`, `stride` apart.
struct ChannelWalk {
  std::int64_t images, channels, positions;

  explicit ChannelWalk(const Shape& shape)
      : images(shape.n()), channels(shape.c()), positions(shape.h() * shape.w()) {}
  TY_HD std::int64_t offset(std::int64_t n, std::int64_t channel) const {
    return (n * channels + channel) * positions;
  }
  TY_HD std::int64_t count() const { return images * positions; }
  /// Sum of f(i) over the channel's elements: each image in the team's order, image by image.
  template <class T, class Team, class F>
  TY_HD T sum(const Team& team, std::int64_t channel, const F& f) const {
    T total = 0;
    for (std::int64_t n = 0; n < images; ++n) {
      const std::int64_t first = offset(n, channel);
      total += team.template sum<T>(positions, [&](std::int64_t i) { return f(first + i); });
    }
    return total;
  }
  template <class Team, class F>
  TY_HD void each(const Team& team, std::int64_t channel, const F& f) const {
    for (std::int64_t n = 0; n < images; ++n) {
      const std::int64_t first = offset(n, channel);
      team.each(positions, [&](std::int64_t i) { f(first + i); });
    }
  }
};

/// Writes the batch statistics. A row is a channel: the mean, then the biased variance around it.
template <class T>
struct Statistics {
  ChannelWalk walk;
  const T* x;
  T* mean;
  T* variance;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t c) const {
    const T count = static_cast<T>(walk.count());
    const T m = walk.sum<T>(team, c, [&](std::int64_t i) { return x[i]; }) / count;
    mean[c] = m;
    variance[c] =
        walk.sum<T>(team, c, [&](std::int64_t i) { return (x[i] - m) * (x[i] - m); }) / count;
  }
};

/// This replica's sums of x and x * x. A row is a channel.
template <class T>
struct OwnSums {
  ChannelWalk walk;
  const T* x;
  PairSum* sums;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t c) const {
    const auto value = [&](std::int64_t i) { return static_cast<double>(x[i]); };
    sums[c] = {walk.sum<double>(team, c, value),
               walk.sum<double>(team, c, [&](std::int64_t i) { return value(i) * value(i); })};
  }
};

/// Writes the statistics of all replicas' batches. Called once per channel.
template <class T>
struct JointStatistics {
  const PairSum* sums;
  double count;  // values per channel
  T* mean;
  T* variance;
  TY_HD void operator()(std::int64_t c) const {
    const Moments moments = moments_of(sums[c], count, 0);
    mean[c] = static_cast<T>(moments.mean);
    variance[c] = static_cast<T>(moments.variance);
  }
};

/// y = gamma * (x - mean) / sqrt(variance + eps) + beta, plus the residual. A row is a channel.
template <class T>
struct Normalise {
  ChannelWalk walk;
  const T* x;
  const T* residual;  // or null
  T* y;
  const T* mean;
  const T* variance;
  const T* gamma;  // or null: 1
  const T* beta;   // or null: 0
  T eps;
  bool relu;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t c) const {
    const T m = mean[c];
    const T factor = (gamma != nullptr ? gamma[c] : T(1)) / math::sqrt(variance[c] + eps);
    const T offset = beta != nullptr ? beta[c] : T(0);
    walk.each(team, c, [&](std::int64_t i) {
      const T normal = (x[i] - m) * factor + offset;
      const T value = residual != nullptr ? normal + residual[i] : normal;
      y[i] = relu && value < 0 ? T(0) : value;
    });
  }
};

/// Sums over a batch of dy and of dy * (x - mean) / sqrt(variance + eps), for dy where the ReLU was
/// open.
template <class T>
struct ChannelGradient {
  T sum, product;
};

/// Ioffe and Szegedy 2015, section 3. dx may be dy. The two halves of a channel: what its own batch
/// gives, and what is derived from the means over the batch, of this replica or of all.
template <class T>
struct BnGradient {
  ChannelWalk walk;
  const T* x;
  const T* y;  // only read with relu
  const T* dy;
  T* dx;                 // or null
  T* residual_gradient;  // or null
  const T* mean;
  const T* variance;
  const T* gamma;
  T* gamma_gradient;  // or null
  T* beta_gradient;   // or null
  T eps;
  bool relu;

  /// The gradients of the parameters and of the residual.
  template <class Team>
  TY_HD ChannelGradient<T> own(const Team& team, std::int64_t c) const {
    const T m = mean[c];
    const T inverse = T(1) / math::sqrt(variance[c] + eps);
    const T sum = walk.sum<T>(team, c, [&](std::int64_t i) { return open(i); });
    const T product =
        walk.sum<T>(team, c, [&](std::int64_t i) { return open(i) * ((x[i] - m) * inverse); });
    if (gamma_gradient != nullptr) gamma_gradient[c] = product;
    if (beta_gradient != nullptr) beta_gradient[c] = sum;
    if (residual_gradient != nullptr) {
      walk.each(team, c, [&](std::int64_t i) { residual_gradient[i] = open(i); });
    }
    return {sum, product};
  }
  /// The gradient of x.
  template <class Team>
  TY_HD void follow(const Team& team, std::int64_t c, const ChannelGradient<T>& mean_of) const {
    const T m = mean[c];
    const T inverse = T(1) / math::sqrt(variance[c] + eps);
    const T factor = (gamma != nullptr ? gamma[c] : T(1)) * inverse;
    walk.each(team, c, [&](std::int64_t i) {
      // The residual's gradient may be dy.
      const T gradient = residual_gradient != nullptr ? residual_gradient[i] : open(i);
      dx[i] = factor * (gradient - mean_of.sum - (x[i] - m) * inverse * mean_of.product);
    });
  }

 private:
  TY_HD T open(std::int64_t i) const { return relu && !(y[i] > 0) ? T(0) : dy[i]; }
};

/// One replica. A row is a channel.
template <class T>
struct WholeGradient {
  BnGradient<T> gradient;
  double values;  // per channel
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t c) const {
    const ChannelGradient<T> sums = gradient.own(team, c);
    if (gradient.dx == nullptr) return;
    const T count = static_cast<T>(values);
    gradient.follow(team, c, {sums.sum / count, sums.product / count});
  }
};

/// Several replicas, before their sums are joined. A row is a channel.
template <class T>
struct OwnGradient {
  BnGradient<T> gradient;
  PairSum* sums;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t c) const {
    const ChannelGradient<T> own = gradient.own(team, c);
    sums[c] = {static_cast<double>(own.sum), static_cast<double>(own.product)};
  }
};

/// Several replicas, after their sums are joined. A row is a channel.
template <class T>
struct SyncedGradient {
  BnGradient<T> gradient;
  const PairSum* sums;
  double count;  // values per channel
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t c) const {
    gradient.follow(
        team, c, {static_cast<T>(sums[c].first / count), static_cast<T>(sums[c].second / count)});
  }
};

/// Sums over all replicas in the workspace.
class SyncedSums {
 public:
  SyncedSums(const StepDescription& step, std::int64_t channels, OffsetAllocator& scratch)
      : batch_(step), channels_(channels) {
    if (batch_.joined()) offset_ = scratch.take(batch_.bytes(channels));
  }
  void bind(void* workspace) {
    if (batch_.joined()) batch_.bind(static_cast<std::byte*>(workspace) + offset_);
  }
  [[nodiscard]] bool joined() const { return batch_.joined(); }
  [[nodiscard]] PairSum* sums() const { return batch_.sums(); }
  void sum() const { batch_.sum(channels_); }
  /// Values per channel, of all replicas.
  [[nodiscard]] double count(const ChannelWalk& walk) const { return batch_.values(walk.count()); }

 private:
  SyncedBatch batch_;
  std::int64_t channels_;
  std::size_t offset_ = 0;
};

template <class T>
class BnForward final : public Executor {
 public:
  BnForward(const StepDescription& step, const BnOp& op)
      : launcher_(step.threads),
        pass_(step.pass),
        attributes_(op.values()),
        walk_(shape_of(step.inputs[0])),
        input_(step.inputs[0], step.storage, scratch_),
        residual_(step.inputs.back(), step.storage, scratch_),
        output_(step.outputs[0], step.storage, scratch_),
        joint_(step, walk_.channels, scratch_) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_.used(); }
  void bind(const StepTensors& tensors) override {
    input_.bind(tensors.inputs[0], tensors.workspace);
    if (attributes_.residual) residual_.bind(tensors.inputs[1], tensors.workspace);
    output_.bind(tensors.outputs[0], tensors.workspace);
    joint_.bind(tensors.workspace);
    running_ = tensors.running;
    const bool evaluates = pass_ == Pass::forward_eval;
    const auto& statistics = evaluates ? tensors.running : tensors.batch_statistics;
    mean_ = statistics[0].template as<T>();
    variance_ = statistics[1].template as<T>();
    std::size_t next = 0;
    if (attributes_.scale) gamma_ = tensors.parameters[next++].template as<T>();
    if (attributes_.center) beta_ = tensors.parameters[next].template as<T>();
  }
  void run() override {
    input_.load(launcher_);
    if (attributes_.residual) residual_.load(launcher_);
    if (pass_ == Pass::forward_train) take_statistics();
    launcher_.rows(walk_.channels, Normalise<T>{walk_, input_.data(),
                                                attributes_.residual ? residual_.data() : nullptr,
                                                output_.data(), mean_, variance_, gamma_, beta_,
                                                static_cast<T>(attributes_.eps), attributes_.relu});
    output_.store(launcher_);
  }

 private:
  void take_statistics() {
    if (attributes_.fixed) {
      std::copy_n(running_[0].template as<T>(), walk_.channels, mean_);
      std::copy_n(running_[1].template as<T>(), walk_.channels, variance_);
      return;
    }
    if (!joint_.joined()) {
      launcher_.rows(walk_.channels, Statistics<T>{walk_, input_.data(), mean_, variance_});
      return;
    }
    launcher_.rows(walk_.channels, OwnSums<T>{walk_, input_.data(), joint_.sums()});
    joint_.sum();
    launcher_.each(walk_.channels,
                   JointStatistics<T>{joint_.sums(), joint_.count(walk_), mean_, variance_});
  }

  CpuLauncher launcher_;
  Pass pass_;
  BnAttributes attributes_;
  ChannelWalk walk_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_, residual_, output_;  // the residual's is the input's if there is none
  SyncedSums joint_;
  T* mean_ = nullptr;  // written in training, else read
  T* variance_ = nullptr;
  std::vector<TensorView> running_;
  const T* gamma_ = nullptr;
  const T* beta_ = nullptr;
};

template <class T>
class BnBackward final : public Executor {
 public:
  BnBackward(const StepDescription& step, const BnOp& op)
      : launcher_(step.threads),
        attributes_(op.values()),
        walk_(shape_of(step.inputs[0])),
        input_(step.inputs[0], step.storage, scratch_),
        output_(step.outputs[0], step.storage, scratch_),
        output_gradient_(step.outputs[0], step.storage, scratch_),
        input_gradient_(step.inputs[0], step.storage, scratch_, step.form.adds_gradient),
        residual_gradient_(step.inputs.back(), step.storage, scratch_),
        joint_(step, walk_.channels, scratch_) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_.used(); }
  void bind(const StepTensors& tensors) override {
    input_.bind(tensors.inputs[0], tensors.workspace);
    if (attributes_.relu) output_.bind(tensors.outputs[0], tensors.workspace);
    output_gradient_.bind(tensors.output_gradients[0], tensors.workspace);
    input_gradient_.bind(tensors.input_gradients[0], tensors.workspace);
    if (attributes_.residual)
      residual_gradient_.bind(tensors.input_gradients[1], tensors.workspace);
    joint_.bind(tensors.workspace);
    mean_ = tensors.batch_statistics[0].template as<T>();
    variance_ = tensors.batch_statistics[1].template as<T>();
    std::size_t next = 0;
    if (attributes_.scale) {
      gamma_ = tensors.parameters[next].template as<T>();
      gamma_gradient_ = tensors.parameter_gradients[next++].template as<T>();
    }
    if (attributes_.center) beta_gradient_ = tensors.parameter_gradients[next].template as<T>();
  }
  void run() override {
    input_.load(launcher_);
    if (attributes_.relu) output_.load(launcher_);
    output_gradient_.load(launcher_);
    const bool wanted = input_gradient_.wanted(), residual_wanted = residual_gradient_.wanted();
    take_gradient({walk_, input_.data(), output_.data(), output_gradient_.data(),
                   wanted ? input_gradient_.data() : nullptr,
                   residual_wanted ? residual_gradient_.data() : nullptr, mean_, variance_, gamma_,
                   gamma_gradient_, beta_gradient_, static_cast<T>(attributes_.eps),
                   attributes_.relu});
    if (wanted) input_gradient_.store(launcher_);
    if (residual_wanted) residual_gradient_.store(launcher_);
  }

 private:
  void take_gradient(const BnGradient<T>& gradient) {
    if (!joint_.joined()) {
      launcher_.rows(walk_.channels, WholeGradient<T>{gradient, joint_.count(walk_)});
      return;
    }
    launcher_.rows(walk_.channels, OwnGradient<T>{gradient, joint_.sums()});
    if (gradient.dx == nullptr) return;  // the joint means are not needed
    joint_.sum();
    launcher_.rows(walk_.channels, SyncedGradient<T>{gradient, joint_.sums(), joint_.count(walk_)});
  }

  CpuLauncher launcher_;
  BnAttributes attributes_;
  ChannelWalk walk_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_, output_, output_gradient_, input_gradient_, residual_gradient_;
  SyncedSums joint_;
  const T* mean_ = nullptr;
  const T* variance_ = nullptr;
  const T* gamma_ = nullptr;
  T* gamma_gradient_ = nullptr;
  T* beta_gradient_ = nullptr;
};

}  // namespace

template <class T>
ExecutorPtr make_bn(const StepDescription& step) {
  const auto& op = op_as<BnOp>(step);
  TY_CHECK(step.pass != Pass::backward_parameters, "batch norm's gradients come in one pass");
  if (step.pass == Pass::backward_data) return std::make_unique<BnBackward<T>>(step, op);
  return std::make_unique<BnForward<T>>(step, op);
}

template ExecutorPtr make_bn<float>(const StepDescription&);
template ExecutorPtr make_bn<double>(const StepDescription&);

}  // namespace trainyard::reference
