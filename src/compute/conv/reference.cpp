#include "base/error.h"
#include "compute/conv/conv_step.h"
#include "compute/conv/unfold.h"
#include "compute/devices/reference_executors.h"
#include "compute/matmul/reference_products.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"

namespace trainyard::reference {
namespace {

/// Shared by the three products: one sample at a time, its windows unfolded into a matrix [c * kh *
/// kw][oh * ow] in the workspace.
template <class T>
class Conv : public Executor {
 public:
  explicit Conv(const StepDescription& step)
      : step_(conv_step(step)),
        launcher_(step.threads),
        walk_(window_walk(step_)),
        images_(step.inputs[0].extent[0]),
        input_(step_.maps.input, step.storage, scratch_,
               step.form.adds_gradient && step_.computes == ConvProduct::input_gradient),
        output_(step_.maps.output, step.storage, scratch_,
                step.form.adds_gradient && step_.computes == ConvProduct::output),
        weight_(step.signature.parameters[0].shape, step.storage, scratch_),
        matrix_offset_(
            scratch_.take(static_cast<std::size_t>(walk_.taps() * walk_.positions()) * sizeof(T))) {
  }
  [[nodiscard]] std::size_t workspace_bytes() const final { return scratch_.used(); }

 protected:
  void bind_maps(const StepTensors& tensors) {
    const ConvMaps<TensorView> views = step_.views(tensors);
    input_.bind(views.input, tensors.workspace);
    output_.bind(views.output, tensors.workspace);
    matrix_ = static_cast<T*>(address_at(tensors.workspace, matrix_offset_));
  }
  /// Of the products that read the weights.
  void bind_parameters(const StepTensors& tensors) {
    weight_.bind(tensors.parameters[0], tensors.workspace);
    bias_ = step_.adds_bias() ? tensors.parameters[1].template as<T>() : nullptr;
  }
  void unfold(std::int64_t n) const {
    launcher_.rows(walk_.taps(), Unfold<T>{walk_, image(n), matrix_});
  }
  [[nodiscard]] T* image(std::int64_t n) const {
    return input_.data() + n * walk_.image_elements();
  }
  [[nodiscard]] T* maps(std::int64_t n) const {
    return output_.data() + n * step_.filters() * walk_.positions();
  }
  [[nodiscard]] std::int64_t groups() const { return step_.attributes.groups; }
  [[nodiscard]] std::int64_t group_filters() const { return step_.filters() / groups(); }
  [[nodiscard]] std::int64_t group_taps() const { return walk_.taps() / groups(); }

  ConvStep step_;
  CpuLauncher launcher_;
  WindowWalk walk_;
  std::int64_t images_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_;   // or its gradient
  PlainTensor<T> output_;  // or its gradient
  Factors<T> weight_;
  const T* bias_ = nullptr;  // added to the result, if not null
  std::size_t matrix_offset_;
  T* matrix_ = nullptr;
};

template <class T>
class ConvOutput final : public Conv<T> {
 public:
  using Conv<T>::Conv;
  void bind(const StepTensors& tensors) override {
    this->bind_maps(tensors);
    this->bind_parameters(tensors);
  }
  void run() override {
    this->input_.load(this->launcher_);
    const T* weight = this->weight_.load(this->launcher_);
    for (std::int64_t n = 0; n < this->images_; ++n) {
      this->unfold(n);
      const WeightedRows<T> product{.out = this->maps(n),
                                    .terms = this->matrix_,
                                    .weight = weight,
                                    .bias = this->bias_,
                                    .rows = this->group_filters(),
                                    .count = this->group_taps(),
                                    .length = this->walk_.positions(),
                                    .row_stride = this->group_taps(),
                                    .term_stride = 1};
      this->launcher_.rows(product.tiles(this->groups()), product);
    }
    this->output_.store(this->launcher_);
  }
};

template <class T>
class ConvInputGradient final : public Conv<T> {
 public:
  using Conv<T>::Conv;
  void bind(const StepTensors& tensors) override {
    this->bind_maps(tensors);
    this->bind_parameters(tensors);
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
                           Fold<T>{this->walk_, this->matrix_, this->image(n), this->bias_});
    }
    this->input_.store(this->launcher_);
  }
};

/// bias_gradient[c] = sum of the gradient of the op's output over images, then positions in order.
template <class T>
struct BiasGradient {
  const T* gradient;  // [n][channels][positions]
  T* out;             // [channels]
  std::int64_t images, channels, positions;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t channel) const {
    T total = 0;
    for (std::int64_t n = 0; n < images; ++n) {
      const T* map = gradient + (n * channels + channel) * positions;
      total += team.template sum<T>(positions, [&](std::int64_t p) { return map[p]; });
    }
    out[channel] = total;
  }
};

template <class T>
class ConvWeightGradient final : public Conv<T> {
 public:
  using Conv<T>::Conv;
  void bind(const StepTensors& tensors) override {
    this->bind_maps(tensors);
    weight_gradient_ = tensors.parameter_gradients[0].template as<T>();
    bias_gradient_ =
        this->step_.sums_bias() ? tensors.parameter_gradients[1].template as<T>() : nullptr;
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
    if (bias_gradient_ != nullptr) sum_bias_gradient();
  }

 private:
  void sum_bias_gradient() const {
    const bool transposed = this->step_.transposed;
    const WindowWalk& walk = this->walk_;
    const std::int64_t channels = this->step_.attributes.filters;
    this->launcher_.rows(
        channels,
        BiasGradient<T>{transposed ? this->image(0) : this->maps(0), bias_gradient_, this->images_,
                        channels, transposed ? walk.height * walk.width : walk.positions()});
  }

  T* weight_gradient_ = nullptr;
  T* bias_gradient_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<Executor> make_conv(const StepDescription& step) {
  switch (conv_step(step).computes) {
    case ConvProduct::output:
      return std::make_unique<ConvOutput<T>>(step);
    case ConvProduct::input_gradient:
      return std::make_unique<ConvInputGradient<T>>(step);
    case ConvProduct::weight_gradient:
      return std::make_unique<ConvWeightGradient<T>>(step);
  }
  return nullptr;
}

template std::unique_ptr<Executor> make_conv<float>(const StepDescription&);
template std::unique_ptr<Executor> make_conv<double>(const StepDescription&);

}  // namespace trainyard::reference
