#include "compute/conv/conv_step.h"
#include "compute/conv/unfold.h"
#include "compute/devices/reference_executors.h"
#include "compute/matmul/reference_products.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"

namespace trainyard::reference {
namespace {

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

/// The three products: one sample at a time, its windows unfolded into a matrix [c * kh * kw][oh *
/// ow] in the workspace.
template <class T>
class Conv final : public Executor {
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
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_.used(); }
  void bind(const StepTensors& tensors) override {
    const ConvMaps<TensorView> views = step_.views(tensors);
    input_.bind(views.input, tensors.workspace);
    output_.bind(views.output, tensors.workspace);
    matrix_ = static_cast<T*>(address_at(tensors.workspace, matrix_offset_));
    if (step_.computes == ConvProduct::weight_gradient) {
      weight_gradient_ = tensors.parameter_gradients[0].template as<T>();
      if (step_.sums_bias()) bias_gradient_ = tensors.parameter_gradients[1].template as<T>();
      return;
    }
    weight_.bind(tensors.parameters[0], tensors.workspace);
    if (step_.adds_bias()) bias_ = tensors.parameters[1].template as<T>();
  }
  void run() override {
    switch (step_.computes) {
      case ConvProduct::output:
        return run_output();
      case ConvProduct::input_gradient:
        return run_input_gradient();
      case ConvProduct::weight_gradient:
        return run_weight_gradient();
    }
  }

 private:
  void run_output() {
    input_.load(launcher_);
    const T* weight = weight_.load(launcher_);
    for (std::int64_t n = 0; n < images_; ++n) {
      unfold(n);
      const WeightedRows<T> product{.out = maps(n),
                                    .terms = matrix_,
                                    .weight = weight,
                                    .bias = bias_,
                                    .rows = group_filters(),
                                    .count = group_taps(),
                                    .length = walk_.positions(),
                                    .row_stride = group_taps(),
                                    .term_stride = 1};
      launcher_.rows(product.tiles(groups()), product);
    }
    output_.store(launcher_);
  }
  void run_input_gradient() {
    output_.load(launcher_);
    const T* weight = weight_.load(launcher_);
    for (std::int64_t n = 0; n < images_; ++n) {
      const WeightedRows<T> product{.out = matrix_,
                                    .terms = maps(n),
                                    .weight = weight,
                                    .bias = nullptr,
                                    .rows = group_taps(),
                                    .count = group_filters(),
                                    .length = walk_.positions(),
                                    .row_stride = 1,
                                    .term_stride = group_taps()};
      launcher_.rows(product.tiles(groups()), product);
      launcher_.rows(walk_.channels, Fold<T>{walk_, matrix_, image(n), bias_});
    }
    input_.store(launcher_);
  }
  void run_weight_gradient() {
    input_.load(launcher_);
    output_.load(launcher_);
    for (std::int64_t n = 0; n < images_; ++n) {
      unfold(n);
      const RowProducts<T> product{.out = weight_gradient_,
                                   .a = maps(n),
                                   .b = matrix_,
                                   .bias = nullptr,
                                   .accumulate = n > 0,
                                   .rows = group_filters(),
                                   .count = group_taps(),
                                   .length = walk_.positions()};
      launcher_.rows(product.tiles(groups()), product);
    }
    if (bias_gradient_ == nullptr) return;
    const std::int64_t channels = step_.attributes.filters;
    launcher_.rows(
        channels,
        BiasGradient<T>{step_.transposed ? image(0) : maps(0), bias_gradient_, images_, channels,
                        step_.transposed ? walk_.height * walk_.width : walk_.positions()});
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
  T* weight_gradient_ = nullptr;
  T* bias_gradient_ = nullptr;
};

}  // namespace

template <class T>
ExecutorPtr make_conv(const StepDescription& step) {
  return std::make_unique<Conv<T>>(step);
}

template ExecutorPtr make_conv<float>(const StepDescription&);
template ExecutorPtr make_conv<double>(const StepDescription&);

}  // namespace trainyard::reference
