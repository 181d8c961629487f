// Batch norm over blocks of channels, also if input or output is a channel slice of a wider tensor:
// branches are normalised straight into their concatenation and their gradients read straight from
// it.
#include <algorithm>

#include "base/error.h"
#include "exec/onednn/bn_planes_gradient.h"
#include "exec/onednn/executors.h"
#include "kernels/launch.h"
#include "ops/bn.h"

namespace trainyard::onednn {
namespace {

// Blocks are processed in groups whose planes should still be in the last-level cache for the
// second pass: a share of what desktop and server processors have for two or more cores.
constexpr std::int64_t kGroupBytes = std::int64_t{8} << 20;

/// Shapes and memory shared by forward and backward.
template <int kBlock>
class BnPlanes : public Executor {
 public:
  explicit BnPlanes(const StepDescription& step)
      : launcher_(step.threads),
        attributes_(static_cast<const BnOp&>(*step.op).values()),
        batch_(step),
        planes_(step.inputs[0]),
        input_(step.inputs[0]),
        output_(step.outputs[0]),
        channels_(step.inputs[0].extent[1]),
        blocks_(step.inputs[0].padded_channels / kBlock) {
    const std::int64_t block_bytes = planes_.count() * kBlock * sizeof(float);
    group_ = std::clamp<std::int64_t>(kGroupBytes / block_bytes, 1, blocks_);
  }
  /// Two partial sums per piece and channel, five numbers per channel, and the sums of all
  /// replicas.
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return own_floats() * sizeof(float) + batch_.bytes(channels_);
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

  /// With padding.
  [[nodiscard]] std::int64_t channels() const { return blocks_ * kBlock; }
  [[nodiscard]] std::size_t own_floats() const {
    return static_cast<std::size_t>(2 * partials() + 5 * channels());
  }
  [[nodiscard]] std::int64_t partials() const {
    return group_ * planes_.images * planes_.pieces * kBlock;
  }
  [[nodiscard]] std::int64_t pieces(std::int64_t blocks) const {
    return blocks * planes_.images * planes_.pieces;
  }
  void bind_channels(const StepTensors& tensors) {
    float* const workspace = static_cast<float*>(tensors.workspace);
    partial_[0] = workspace;
    partial_[1] = workspace + partials();
    float* const rest = partial_[1] + partials();
    factors_ = {rest, rest + channels(), rest + 2 * channels()};
    gradient_factors_ = {rest + 3 * channels(), rest + 4 * channels()};
    batch_.bind(workspace + own_floats());
    std::size_t next = 0;
    if (attributes_.scale) gamma_ = tensors.parameters[next++].template as<float>();
    if (attributes_.center) beta_ = tensors.parameters[next].template as<float>();
  }
  void make_factors(std::int64_t first, std::int64_t count, const float* mean,
                    const float* variance) const {
    launcher_.each(
        count,
        MakeFactors{mean + first, variance + first, gamma_ == nullptr ? nullptr : gamma_ + first,
                    beta_ == nullptr ? nullptr : beta_ + first, static_cast<float>(attributes_.eps),
                    channels_ - first, factors_at(first)});
  }
  /// Values per channel, of all replicas.
  [[nodiscard]] double count() const {
    return static_cast<double>(planes_.count()) * batch_.replicas();
  }
  [[nodiscard]] PairSum* joint_at(std::int64_t channel) const {
    return batch_.joined() ? batch_.sums() + channel : nullptr;
  }
  [[nodiscard]] ChannelFactors factors_at(std::int64_t channel) const {
    return {factors_.mean + channel, factors_.factor + channel, factors_.offset + channel};
  }
  [[nodiscard]] GradientFactors gradient_factors_at(std::int64_t channel) const {
    return {gradient_factors_.mean_gradient + channel, gradient_factors_.slope + channel};
  }

  CpuLauncher launcher_;
  BnAttributes attributes_;
  SyncedBatch batch_;
  Planes planes_;
  PlaneAddress input_, output_;
  std::int64_t channels_, blocks_, group_ = 1;
  float* partial_[2] = {};
  ChannelFactors factors_{};
  GradientFactors gradient_factors_{};
  const float* gamma_ = nullptr;
  const float* beta_ = nullptr;

 private:
  /// Calls work(first block, blocks) for each group.
  template <class Work>
  void each_group(const Work& work) const {
    for (std::int64_t block = 0; block < blocks_; block += group_) {
      work(block, std::min(group_, blocks_ - block));
    }
  }
};

template <int kBlock>
class BnPlanesForward final : public BnPlanes<kBlock> {
  using Base = BnPlanes<kBlock>;

 public:
  explicit BnPlanesForward(const StepDescription& step)
      : Base(step), training_(step.pass == Pass::forward_train) {}
  void bind(const StepTensors& tensors) override {
    this->bind_channels(tensors);
    const auto& statistics = training_ ? tensors.batch_statistics : tensors.running;
    mean_ = statistics[0].template as<float>();
    variance_ = statistics[1].template as<float>();
    x_ = tensors.inputs[0].template as<float>();
    if (this->attributes_.residual) residual_ = tensors.inputs[1].template as<float>();
    y_ = tensors.outputs[0].template as<float>();
  }

 private:
  void sum_group(std::int64_t block, std::int64_t blocks) override {
    if (!training_) return;
    const std::int64_t first = block * kBlock;
    this->launcher_.rows(
        this->pieces(blocks),
        PieceStatistics<kBlock>{this->planes_, this->input_, x_ + block * this->input_.block_stride,
                                this->partial_[0], this->partial_[1]});
    this->launcher_.rows(
        blocks,
        MergeStatistics<kBlock>{this->planes_, this->partial_[0], this->partial_[1], mean_ + first,
                                variance_ + first, this->channels_ - first, this->joint_at(first)});
  }
  [[nodiscard]] bool needs_joint() const override { return true; }
  void settle() override {
    this->launcher_.each(this->channels_,
                         SettleStatistics{this->batch_.sums(), this->count(), mean_, variance_});
  }
  void finish_group(std::int64_t block, std::int64_t blocks) override {
    const std::int64_t first = block * kBlock;
    const std::int64_t at = block * this->input_.block_stride;
    this->make_factors(first, blocks * kBlock, mean_, variance_);
    this->launcher_.rows(blocks * this->planes_.images,
                         NormalisePlane<kBlock>{this->planes_, this->input_, this->output_, x_ + at,
                                                residual_ == nullptr ? nullptr : residual_ + at,
                                                y_ + block * this->output_.block_stride,
                                                this->factors_at(first), this->attributes_.relu});
  }

  bool training_;
  float* mean_ = nullptr;  // written in training, read in evaluation
  float* variance_ = nullptr;
  const float* x_ = nullptr;
  const float* residual_ = nullptr;
  float* y_ = nullptr;
};

template <int kBlock>
class BnPlanesBackward final : public BnPlanes<kBlock> {
  using Base = BnPlanes<kBlock>;

 public:
  using Base::Base;
  void bind(const StepTensors& tensors) override {
    this->bind_channels(tensors);
    mean_ = tensors.batch_statistics[0].template as<float>();
    variance_ = tensors.batch_statistics[1].template as<float>();
    x_ = tensors.inputs[0].template as<float>();
    dy_ = tensors.output_gradients[0].template as<float>();
    dx_ = tensors.input_gradients[0].template as<float>();
    if (this->attributes_.residual) bind_residual(tensors);
    const auto gradient = [&](std::size_t index) {
      const auto& list = tensors.parameter_gradients;
      return index < list.size() ? list[index].template as<float>() : nullptr;
    };
    std::size_t next = 0;
    if (this->attributes_.scale) gamma_gradient_ = gradient(next++);
    if (this->attributes_.center) beta_gradient_ = gradient(next);
  }

 private:
  /// If the residual's gradient is not needed, it is stored in the input's until the second pass.
  void bind_residual(const StepTensors& tensors) {
    float* const wanted = tensors.input_gradients[1].template as<float>();
    residual_ = {tensors.outputs[0].template as<float>(), wanted != nullptr ? wanted : dx_};
  }
  [[nodiscard]] ResidualGradient residual_at(std::int64_t block) const {
    if (residual_.y == nullptr) return {};
    float* const gradient = residual_.gradient;
    return {residual_.y + block * this->output_.block_stride,
            gradient == nullptr ? nullptr : gradient + block * this->input_.block_stride};
  }
  /// The input of the second pass: dy, or with a residual its gradient, which is masked already.
  [[nodiscard]] GradientPlanes second_pass(GradientPlanes tensors,
                                           const ResidualGradient& residual) const {
    if (residual.y == nullptr) return tensors;
    tensors.output = this->input_;
    tensors.dy = residual.gradient;
    tensors.relu = false;
    return tensors;
  }
  [[nodiscard]] GradientPlanes tensors_at(std::int64_t block) const {
    return {this->planes_,
            this->input_,
            this->output_,
            x_ + block * this->input_.block_stride,
            dy_ + block * this->output_.block_stride,
            this->factors_at(block * kBlock),
            this->attributes_.relu};
  }
  void sum_group(std::int64_t block, std::int64_t blocks) override {
    const std::int64_t first = block * kBlock;
    this->make_factors(first, blocks * kBlock, mean_, variance_);
    this->launcher_.rows(this->pieces(blocks),
                         PieceGradientSums<kBlock>{tensors_at(block), residual_at(block),
                                                   this->partial_[0], this->partial_[1]});
    this->launcher_.rows(
        blocks, MergeGradients<kBlock>{
                    this->planes_, this->partial_[0], this->partial_[1], variance_ + first,
                    static_cast<float>(this->attributes_.eps), this->gradient_factors_at(first),
                    gamma_gradient_ == nullptr ? nullptr : gamma_gradient_ + first,
                    beta_gradient_ == nullptr ? nullptr : beta_gradient_ + first,
                    this->channels_ - first, this->joint_at(first)});
  }
  [[nodiscard]] bool needs_joint() const override { return dx_ != nullptr; }
  void settle() override {
    this->launcher_.each(
        this->channels_,
        SettleGradients{this->batch_.sums(), this->count(), variance_,
                        static_cast<float>(this->attributes_.eps), this->gradient_factors_at(0)});
  }
  void finish_group(std::int64_t block, std::int64_t blocks) override {
    if (dx_ == nullptr) return;
    this->launcher_.rows(blocks * this->planes_.images,
                         GradientPlane<kBlock>{second_pass(tensors_at(block), residual_at(block)),
                                               this->gradient_factors_at(block * kBlock),
                                               dx_ + block * this->input_.block_stride});
  }

  const float* mean_ = nullptr;
  const float* variance_ = nullptr;
  const float* x_ = nullptr;
  const float* dy_ = nullptr;
  ResidualGradient residual_;
  float* dx_ = nullptr;  // or null: not needed
  float* gamma_gradient_ = nullptr;
  float* beta_gradient_ = nullptr;
};

template <int kBlock>
std::unique_ptr<Executor> make(const StepDescription& step) {
  if (step.pass == Pass::backward_data) return std::make_unique<BnPlanesBackward<kBlock>>(step);
  return std::make_unique<BnPlanesForward<kBlock>>(step);
}

}  // namespace

bool has_plane_code(const StepDescription& step) {
  const Layout& input = step.inputs[0];
  return (input.block == 8 || input.block == 16) && step.outputs[0].block == input.block;
}

std::unique_ptr<Executor> make_bn_planes(const StepDescription& step) {
  TY_CHECK(has_plane_code(step), "batch norm over planes works on blocks");
  return step.inputs[0].block == 16 ? make<16>(step) : make<8>(step);
}

}  // namespace trainyard::onednn
