// Batch norm over blocks of channels, also if input or output is a channel slice of a wider tensor:
// branches are normalised straight into their concatenation and their gradients read straight from
// it. A residual's gradient is written straight into its place.
//
// Costs 0.4 to 1 % of a step of ResNet-20 against oneDNN's (docs/results/log/cpu.md), for its
// slices and for bits that do not depend on threads.
#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "compute/conv/onednn/primitives.h"
#include "compute/norm/bn_planes.h"
#include "compute/norm/channels.h"
#include "launcher/launch.h"
#include "ops/bn.h"

namespace trainyard::onednn {
namespace {

// Blocks are processed in groups whose planes should still be in the last-level cache for the
// second pass: a share of what desktop and server processors have for two or more cores.
constexpr std::int64_t kGroupBytes = std::int64_t{8} << 20;

/// Shapes and memory shared by forward and backward.
template <class T, int kBlock>
class BnPlanes : public Executor {
 public:
  explicit BnPlanes(const StepDescription& step)
      : launcher_(step.threads),
        attributes_(op_as<BnOp>(step).values()),
        batch_(step),
        planes_(step.inputs[0]),
        input_(step.inputs[0]),
        output_(step.outputs[0]),
        channels_(step.inputs[0].extent[1]),
        blocks_(step.inputs[0].padded_channels / kBlock) {
    const std::int64_t block_bytes = planes_.count() * kBlock * sizeof(T);
    group_ = std::clamp<std::int64_t>(kGroupBytes / block_bytes, 1, blocks_);
  }
  /// The sums of all replicas, whose doubles come first, since the numbers behind may be odd; two
  /// partial sums per piece and channel; constants.
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return batch_.bytes(padded()) + own_floats() * sizeof(float);
  }
  void run() override {
    each_group([this](std::int64_t block, std::int64_t blocks) {
      sum_group(block, blocks);
      if (!batch_.joined()) finish_group(block, blocks);
    });
    if (!batch_.joined() || !needs_joint()) return;
    batch_.sum(channels_);
    settle();
    each_group([this](std::int64_t block, std::int64_t blocks) { finish_group(block, blocks); });
  }

 protected:
  /// The first pass over the planes: sums, and with one replica the values derived from them.
  virtual void sum_group(std::int64_t block, std::int64_t blocks) = 0;
  /// True if the second pass is needed, and with it the sums of all replicas.
  [[nodiscard]] virtual bool needs_joint() const = 0;
  /// The values derived from the sums of all replicas.
  virtual void settle() = 0;
  /// The second pass.
  virtual void finish_group(std::int64_t block, std::int64_t blocks) = 0;

  [[nodiscard]] std::int64_t padded() const { return blocks_ * kBlock; }
  [[nodiscard]] std::size_t factor_bytes() const {
    return static_cast<std::size_t>(ChannelFactors<float>::elements(padded())) * sizeof(float);
  }
  /// Partial sums, then the constants of evaluation or of the input's gradient.
  [[nodiscard]] std::size_t own_floats() const {
    return static_cast<std::size_t>(2 * partials() + ChannelFactors<float>::elements(padded()));
  }
  [[nodiscard]] std::int64_t partials() const {
    return group_ * planes_.images * planes_.pieces * kBlock;
  }
  [[nodiscard]] std::int64_t pieces(std::int64_t blocks) const {
    return blocks * planes_.images * planes_.pieces;
  }
  void bind_workspace(void* memory) {
    batch_.bind(memory);
    auto* const workspace =
        reinterpret_cast<float*>(static_cast<std::byte*>(memory) + batch_.bytes(padded()));
    partial_[0] = workspace;
    partial_[1] = workspace + partials();
    constants_ = partial_[1] + partials();
  }
  /// Values per channel, of all replicas.
  [[nodiscard]] double all() const { return batch_.values(planes_.count()); }

  CpuLauncher launcher_;
  BnAttributes attributes_;
  SyncedBatch batch_;
  Planes planes_;
  PlaneAddress input_, output_;
  std::int64_t channels_, blocks_, group_ = 1;
  float* partial_[2] = {};
  float* constants_ = nullptr;

 private:
  /// Calls work(first block, blocks) for each group.
  template <class Work>
  void each_group(const Work& work) const {
    for (std::int64_t block = 0; block < blocks_; block += group_) {
      work(block, std::min(group_, blocks_ - block));
    }
  }
};

template <class T, int kBlock>
class BnPlanesForward final : public BnPlanes<T, kBlock> {
  using Base = BnPlanes<T, kBlock>;

 public:
  explicit BnPlanesForward(const StepDescription& step) : Base(step), pass_(step.pass) {}
  [[nodiscard]] std::size_t reserve_bytes() const override {
    return evaluates() ? 0 : this->factor_bytes();
  }
  void bind(const StepTensors& tensors) override {
    this->bind_workspace(tensors.workspace);
    bind_parameters(tensors);
    x_ = tensors.inputs[0].template as<T>();
    if (this->attributes_.residual) residual_ = tensors.inputs[1].template as<T>();
    y_ = tensors.outputs[0].template as<T>();
    mean_ = tensors.batch_statistics[0].template as<float>();
    variance_ = tensors.batch_statistics[1].template as<float>();
    if (!reads_running()) return;
    running_ = {make_, tensors.running[0].template as<float>(),
                tensors.running[1].template as<float>(), evaluates() ? nullptr : mean_, variance_};
  }

 private:
  [[nodiscard]] bool evaluates() const { return pass_ == Pass::forward_eval; }
  [[nodiscard]] bool reads_running() const { return evaluates() || this->attributes_.fixed; }
  void bind_parameters(const StepTensors& tensors) {
    std::size_t next = 0;
    if (this->attributes_.scale) make_.gamma = tensors.parameters[next++].template as<float>();
    if (this->attributes_.center) make_.beta = tensors.parameters[next].template as<float>();
    make_.eps = static_cast<float>(this->attributes_.eps);
    make_.channels = this->channels_;
    make_.out =
        ChannelFactors<float>::at(evaluates() ? this->constants_ : tensors.reserve, this->padded());
  }
  [[nodiscard]] SettleMoments<float> moments() const {
    return {mean_,       variance_,          make_, static_cast<double>(this->planes_.count()),
            this->all(), this->batch_.sums()};
  }
  void sum_group(std::int64_t block, std::int64_t blocks) override {
    if (pass_ == Pass::recompute) return;
    if (reads_running()) return make_factors(block, blocks);
    this->launcher_.rows(this->pieces(blocks),
                         PieceStatistics<T, kBlock>{this->planes_, this->input_,
                                                    x_ + block * this->input_.block_stride,
                                                    this->partial_[0], this->partial_[1]});
    this->launcher_.rows(blocks, MergeStatistics<kBlock>{this->planes_, this->partial_[0],
                                                         this->partial_[1], block, moments()});
  }
  void make_factors(std::int64_t block, std::int64_t blocks) const {
    for (std::int64_t c = block * kBlock; c < (block + blocks) * kBlock; ++c) running_(c);
  }
  [[nodiscard]] bool needs_joint() const override { return true; }
  void settle() override { this->launcher_.each(this->padded(), moments()); }
  void finish_group(std::int64_t block, std::int64_t blocks) override {
    const std::int64_t at = block * this->input_.block_stride;
    this->launcher_.rows(
        blocks * this->planes_.images,
        NormalisePlane<T, kBlock>{this->planes_, this->input_, this->output_, x_ + at,
                                  residual_ == nullptr ? nullptr : residual_ + at,
                                  y_ + block * this->output_.block_stride, block, make_.out,
                                  this->attributes_.relu});
  }

  Pass pass_;
  MakeChannelFactors<float> make_{};
  RunningFactors<float> running_{};
  float* mean_ = nullptr;  // means of the batch
  float* variance_ = nullptr;
  const T* x_ = nullptr;
  const T* residual_ = nullptr;
  T* y_ = nullptr;
};

template <class T, int kBlock>
class BnPlanesBackward final : public BnPlanes<T, kBlock> {
  using Base = BnPlanes<T, kBlock>;

 public:
  using Base::Base;
  [[nodiscard]] std::size_t reserve_bytes() const override { return this->factor_bytes(); }
  void bind(const StepTensors& tensors) override {
    this->bind_workspace(tensors.workspace);
    factors_ = ChannelFactors<float>::at(tensors.reserve, this->padded());
    x_ = tensors.inputs[0].template as<T>();
    dy_ = tensors.output_gradients[0].template as<T>();
    dx_ = tensors.input_gradients[0].template as<T>();
    if (this->attributes_.residual) bind_residual(tensors);
    settle_ = {.variance = tensors.batch_statistics[1].template as<float>(),
               .eps = static_cast<float>(this->attributes_.eps),
               .channels = this->channels_,
               .factors = GradientFactors<float>::at(this->constants_, this->padded()),
               .all = this->all(),
               .joint = this->batch_.sums()};
    const auto gradient = [&](std::size_t index) {
      const auto& list = tensors.parameter_gradients;
      return index < list.size() ? list[index].template as<float>() : nullptr;
    };
    std::size_t next = 0;
    if (this->attributes_.scale) settle_.gamma_gradient = gradient(next++);
    if (this->attributes_.center) settle_.beta_gradient = gradient(next);
  }

 private:
  /// If the residual's gradient is not needed, it is stored in the input's until the second pass.
  void bind_residual(const StepTensors& tensors) {
    T* const wanted = tensors.input_gradients[1].template as<T>();
    residual_ = {tensors.outputs[0].template as<T>(), wanted != nullptr ? wanted : dx_};
  }
  [[nodiscard]] ResidualGradientPlanes<T> residual_at(std::int64_t block) const {
    if (residual_.y == nullptr) return {};
    T* const gradient = residual_.gradient;
    return {residual_.y + block * this->output_.block_stride,
            gradient == nullptr ? nullptr : gradient + block * this->input_.block_stride};
  }
  /// The input of the second pass: dy, or with a residual its gradient, which is masked already.
  [[nodiscard]] GradientPlanes<T> second_pass(GradientPlanes<T> tensors,
                                              const ResidualGradientPlanes<T>& residual) const {
    if (residual.y == nullptr) return tensors;
    tensors.output = this->input_;
    tensors.dy = residual.gradient;
    tensors.relu = false;
    return tensors;
  }
  [[nodiscard]] GradientPlanes<T> tensors_at(std::int64_t block) const {
    return {this->planes_,
            this->input_,
            this->output_,
            x_ + block * this->input_.block_stride,
            dy_ + block * this->output_.block_stride,
            block,
            factors_,
            this->attributes_.relu};
  }
  void sum_group(std::int64_t block, std::int64_t blocks) override {
    this->launcher_.rows(this->pieces(blocks),
                         PieceGradientSums<T, kBlock>{tensors_at(block), residual_at(block),
                                                      this->partial_[0], this->partial_[1]});
    this->launcher_.rows(blocks, MergeGradients<kBlock>{this->planes_, this->partial_[0],
                                                        this->partial_[1], block, settle_});
  }
  [[nodiscard]] bool needs_joint() const override { return dx_ != nullptr; }
  void settle() override { this->launcher_.each(this->padded(), settle_); }
  void finish_group(std::int64_t block, std::int64_t blocks) override {
    if (dx_ == nullptr) return;
    this->launcher_.rows(
        blocks * this->planes_.images,
        GradientPlane<T, kBlock>{second_pass(tensors_at(block), residual_at(block)),
                                 settle_.factors, dx_ + block * this->input_.block_stride});
  }

  const T* x_ = nullptr;
  const T* dy_ = nullptr;
  T* dx_ = nullptr;  // or null: not needed
  ResidualGradientPlanes<T> residual_;
  ChannelFactors<float> factors_{};
  SettleGradients<float> settle_{};
};

template <class T, int kBlock>
ExecutorPtr make(const StepDescription& step) {
  if (step.pass == Pass::backward_data) return std::make_unique<BnPlanesBackward<T, kBlock>>(step);
  return std::make_unique<BnPlanesForward<T, kBlock>>(step);
}

/// True if the pixels of a block of channels have no gaps between them.
bool has_planes(const Layout& layout) {
  const bool row = layout.extent[3] == 1 || layout.stride[3] == layout.block;
  const std::int64_t row_values = layout.extent[3] * layout.block;
  return row && (layout.extent[2] == 1 || layout.stride[2] == row_values);
}

/// Channels of a block, or 0 if the walk is over rows: features, and channels last.
std::int64_t plane_block(const StepDescription& step) {
  const Layout &input = step.inputs[0], &output = step.outputs[0];
  const bool pixels = input.block > 1 || input.extent[2] * input.extent[3] > 1;
  const bool planes = has_planes(input) && has_planes(output) && input.block == output.block;
  return pixels && planes ? input.block : 0;
}

/// Blocks of 8 channels are for AVX2, whose processors do not compute in bf16.
template <class T>
ExecutorPtr make_planes(const StepDescription& step) {
  switch (plane_block(step)) {
    case 16:
      return make<T, 16>(step);
    case 8:
      if constexpr (std::is_same_v<T, float>) return make<T, 8>(step);
      throw Error(ErrorKind::bug, "batch norm in bf16 has no blocks of 8 channels");
    case 1:
      return make<T, 1>(step);
    default:
      return make_channel_executor(step);
  }
}

}  // namespace

ExecutorPtr make_bn(const StepDescription& step) {
  return step.storage == DType::bf16 ? make_planes<BFloat16>(step) : make_planes<float>(step);
}

}  // namespace trainyard::onednn
