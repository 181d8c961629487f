#include "ops/conv.h"

#include "base/error.h"
#include "exec/reference/executors.h"
#include "exec/reference/products.h"
#include "exec/reference/scratch.h"
#include "exec/reference/unfold.h"

namespace trainyard::reference {
namespace {

/// Shared by the three passes: one sample at a time, its windows unfolded into a matrix [c * kh *
/// kw][oh * ow] in the workspace.
template <class T>
class Conv : public Executor {
 public:
  explicit Conv(const StepDescription& step)
      : op_(dynamic_cast<const ConvOp&>(*step.op)),
        launcher_(step.threads),
        walk_(window_walk(op_, shape_of(step.inputs[0]), step.signature.outputs[0])),
        images_(step.inputs[0].extent[0]),
        input_(step.inputs[0], step.storage, scratch_),
        output_(step.outputs[0], step.storage, scratch_),
        weight_(step.signature.parameters[0].shape, step.storage, scratch_),
        matrix_offset_(
            scratch_.take(static_cast<std::size_t>(walk_.taps() * walk_.positions()) * sizeof(T))) {
  }
  [[nodiscard]] std::size_t workspace_bytes() const final { return scratch_.used(); }

 protected:
  void bind_tensors(const TensorView& input, const TensorView& output, void* workspace) {
    input_.bind(input, workspace);
    output_.bind(output, workspace);
    matrix_ = reinterpret_cast<T*>(static_cast<std::byte*>(workspace) + matrix_offset_);
  }
  void unfold(std::int64_t n) const {
    launcher_.rows(walk_.taps(), Unfold<T>{walk_, image(n), matrix_});
  }
  [[nodiscard]] T* image(std::int64_t n) const {
    return input_.data() + n * walk_.image_elements();
  }
  [[nodiscard]] T* maps(std::int64_t n) const {
    return output_.data() + n * op_.values().filters * walk_.positions();
  }
  [[nodiscard]] std::int64_t groups() const { return op_.values().groups; }
  [[nodiscard]] std::int64_t group_filters() const { return op_.values().filters / groups(); }
  [[nodiscard]] std::int64_t group_taps() const { return walk_.taps() / groups(); }

  const ConvOp& op_;
  CpuLauncher launcher_;
  WindowWalk walk_;
  std::int64_t images_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_;   // or its gradient
  PlainTensor<T> output_;  // or its gradient
  Factors<T> weight_;
  std::size_t matrix_offset_;
  T* matrix_ = nullptr;
};

template <class T>
class ConvForward final : public Conv<T> {
 public:
  using Conv<T>::Conv;
  void bind(const StepTensors& tensors) override {
    this->bind_tensors(tensors.inputs[0], tensors.outputs[0], tensors.workspace);
    this->weight_.bind(tensors.parameters[0], tensors.workspace);
    bias_ = this->op_.values().bias ? tensors.parameters[1].template as<T>() : nullptr;
  }
  void run() override {
    this->input_.load(this->launcher_);
    const T* weight = this->weight_.load(this->launcher_);
    for (std::int64_t n = 0; n < this->images_; ++n) {
      this->unfold(n);
      const WeightedRows<T> product{.out = this->maps(n),
                                    .terms = this->matrix_,
                                    .weight = weight,
                                    .bias = bias_,
                                    .rows = this->group_filters(),
                                    .count = this->group_taps(),
                                    .length = this->walk_.positions(),
                                    .row_stride = this->group_taps(),
                                    .term_stride = 1};
      this->launcher_.rows(product.tiles(this->groups()), product);
    }
    this->output_.store(this->launcher_);
  }

 private:
  const T* bias_ = nullptr;
};

template <class T>
class ConvBackwardData final : public Conv<T> {
 public:
  using Conv<T>::Conv;
  void bind(const StepTensors& tensors) override {
    this->bind_tensors(tensors.input_gradients[0], tensors.output_gradients[0], tensors.workspace);
    this->weight_.bind(tensors.parameters[0], tensors.workspace);
  }
  void run() override {
    this->output_.load(this->launcher_);
    const T* weight = this->weight_.load(this->launcher_);
    for (std::int64_t n = 0; n < this->images_; ++n) {
      const WeightedRows<T> product{.out = this->matrix_,
                                    .terms = this->maps(n),
                                    .weight = weight,
                                    .bias = nullptr,
                                    .rows = this->group_taps(),
                                    .count = this->group_filters(),
                                    .length = this->walk_.positions(),
                                    .row_stride = 1,
                                    .term_stride = this->group_taps()};
      this->launcher_.rows(product.tiles(this->groups()), product);
      this->launcher_.rows(this->walk_.channels,
                           Fold<T>{this->walk_, this->matrix_, this->image(n)});
    }
    this->input_.store(this->launcher_);
  }
};

/// bias_gradient[f] = sum of the output's gradient over images, then positions in order.
template <class T>
struct BiasGradient {
  const T* gradient;  // [n][filters][positions]
  T* out;             // [filters]
  std::int64_t images, filters, positions;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t filter) const {
    T total = 0;
    for (std::int64_t n = 0; n < images; ++n) {
      const T* map = gradient + (n * filters + filter) * positions;
      total += team.template sum<T>(positions, [&](std::int64_t p) { return map[p]; });
    }
    out[filter] = total;
  }
};

template <class T>
class ConvBackwardParameters final : public Conv<T> {
 public:
  using Conv<T>::Conv;
  void bind(const StepTensors& tensors) override {
    this->bind_tensors(tensors.inputs[0], tensors.output_gradients[0], tensors.workspace);
    weight_gradient_ = tensors.parameter_gradients[0].template as<T>();
    bias_gradient_ =
        this->op_.values().bias ? tensors.parameter_gradients[1].template as<T>() : nullptr;
  }
  void run() override {
    this->input_.load(this->launcher_);
    this->output_.load(this->launcher_);
    for (std::int64_t n = 0; n < this->images_; ++n) {
      this->unfold(n);
      const RowProducts<T> product{.out = weight_gradient_,
                                   .a = this->maps(n),
                                   .b = this->matrix_,
                                   .bias = nullptr,
                                   .accumulate = n > 0,
                                   .rows = this->group_filters(),
                                   .count = this->group_taps(),
                                   .length = this->walk_.positions()};
      this->launcher_.rows(product.tiles(this->groups()), product);
    }
    if (bias_gradient_ == nullptr) return;
    const std::int64_t filters = this->op_.values().filters;
    this->launcher_.rows(filters, BiasGradient<T>{this->maps(0), bias_gradient_, this->images_,
                                                  filters, this->walk_.positions()});
  }

 private:
  T* weight_gradient_ = nullptr;
  T* bias_gradient_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<Executor> make_conv(const StepDescription& step) {
  switch (step.pass) {
    case Pass::forward_train:
    case Pass::forward_eval:
      return std::make_unique<ConvForward<T>>(step);
    case Pass::backward_data:
      return std::make_unique<ConvBackwardData<T>>(step);
    case Pass::backward_parameters:
      return std::make_unique<ConvBackwardParameters<T>>(step);
  }
  return nullptr;
}

template std::unique_ptr<Executor> make_conv<float>(const StepDescription&);
template std::unique_ptr<Executor> make_conv<double>(const StepDescription&);

}  // namespace trainyard::reference
