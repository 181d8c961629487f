#include "compute/devices/reference_executors.h"
#include "compute/matmul/reference_products.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"
#include "ops/dense.h"

namespace trainyard::reference {
namespace {

/// Shared by the three passes: x [n][features] and y [n][units], or their gradients; n counts
/// samples or positions.
template <class T>
class Dense : public Executor {
 public:
  explicit Dense(const StepDescription& step)
      : launcher_(step.threads),
        dense_(op_as<DenseOp>(step).values()),
        has_bias_(dense_.bias),
        samples_(matrix_layout(dense_, step.inputs[0]).extent[0]),
        features_(step.signature.parameters[0].shape[1]),
        units_(step.signature.parameters[0].shape[0]),
        input_(matrix_layout(dense_, step.inputs[0]), step.storage, scratch_,
               step.form.adds_gradient),
        output_(matrix_layout(dense_, step.outputs[0]), step.storage, scratch_),
        weight_(step.signature.parameters[0].shape, step.storage, scratch_) {}
  [[nodiscard]] std::size_t workspace_bytes() const final { return scratch_.used(); }

 protected:
  [[nodiscard]] TensorView matrix(TensorView view) const {
    view.layout = matrix_layout(dense_, view.layout);
    return view;
  }

  CpuLauncher launcher_;
  DenseAttributes dense_;
  bool has_bias_;
  std::int64_t samples_, features_, units_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_;
  PlainTensor<T> output_;
  Factors<T> weight_;
};

template <class T>
class DenseForward final : public Dense<T> {
 public:
  explicit DenseForward(const StepDescription& step)
      : Dense<T>(step), adds_bias_(this->has_bias_ && step.form.own_bias()) {}
  void bind(const StepTensors& tensors) override {
    this->input_.bind(this->matrix(tensors.inputs[0]), tensors.workspace);
    this->output_.bind(this->matrix(tensors.outputs[0]), tensors.workspace);
    this->weight_.bind(tensors.parameters[0], tensors.workspace);
    bias_ = adds_bias_ ? tensors.parameters[1].template as<T>() : nullptr;
  }
  void run() override {
    this->input_.load(this->launcher_);
    const RowProducts<T> product{.out = this->output_.data(),
                                 .a = this->input_.data(),
                                 .b = this->weight_.load(this->launcher_),
                                 .bias = bias_,
                                 .accumulate = false,
                                 .rows = this->samples_,
                                 .count = this->units_,
                                 .length = this->features_};
    this->launcher_.rows(product.tiles(1), product);
    this->output_.store(this->launcher_);
  }

 private:
  bool adds_bias_;
  const T* bias_ = nullptr;
};

template <class T>
class DenseBackwardData final : public Dense<T> {
 public:
  using Dense<T>::Dense;
  void bind(const StepTensors& tensors) override {
    this->input_.bind(this->matrix(tensors.input_gradients[0]), tensors.workspace);
    this->output_.bind(this->matrix(tensors.output_gradients[0]), tensors.workspace);
    this->weight_.bind(tensors.parameters[0], tensors.workspace);
  }
  void run() override {
    this->output_.load(this->launcher_);
    // dx[n] = sum over units of dy[n][u] * weight[u]
    const WeightedRows<T> product{.out = this->input_.data(),
                                  .terms = this->weight_.load(this->launcher_),
                                  .weight = this->output_.data(),
                                  .bias = nullptr,
                                  .rows = this->samples_,
                                  .count = this->units_,
                                  .length = this->features_,
                                  .row_stride = this->units_,
                                  .term_stride = 1};
    this->launcher_.rows(product.tiles(1), product);
    this->input_.store(this->launcher_);
  }
};

/// bias_gradient[u] = sum of dy[n][u] over n in order.
template <class T>
struct ColumnSums {
  const T* rows;  // [n][columns]
  T* out;         // [columns]
  std::int64_t n, columns;
  TY_HD void operator()(std::int64_t column) const {
    T total = 0;
    for (std::int64_t row = 0; row < n; ++row) total += rows[row * columns + column];
    out[column] = total;
  }
};

template <class T>
class DenseBackwardParameters final : public Dense<T> {
 public:
  explicit DenseBackwardParameters(const StepDescription& step)
      : Dense<T>(step), sums_bias_(this->has_bias_ && step.form.own_bias()) {}
  void bind(const StepTensors& tensors) override {
    this->input_.bind(this->matrix(tensors.inputs[0]), tensors.workspace);
    this->output_.bind(this->matrix(tensors.output_gradients[0]), tensors.workspace);
    weight_gradient_ = tensors.parameter_gradients[0].template as<T>();
    bias_gradient_ = sums_bias_ ? tensors.parameter_gradients[1].template as<T>() : nullptr;
  }
  void run() override {
    this->input_.load(this->launcher_);
    this->output_.load(this->launcher_);
    // dw[u] = sum over n of dy[n][u] * x[n]
    const WeightedRows<T> product{.out = weight_gradient_,
                                  .terms = this->input_.data(),
                                  .weight = this->output_.data(),
                                  .bias = nullptr,
                                  .rows = this->units_,
                                  .count = this->samples_,
                                  .length = this->features_,
                                  .row_stride = 1,
                                  .term_stride = this->units_};
    this->launcher_.rows(product.tiles(1), product);
    if (bias_gradient_ == nullptr) return;
    this->launcher_.each(this->units_, ColumnSums<T>{this->output_.data(), bias_gradient_,
                                                     this->samples_, this->units_});
  }

 private:
  bool sums_bias_;
  T* weight_gradient_ = nullptr;
  T* bias_gradient_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<Executor> make_dense(const StepDescription& step) {
  switch (step.pass) {
    case Pass::forward_train:
    case Pass::forward_eval:
    case Pass::recompute:
      return std::make_unique<DenseForward<T>>(step);
    case Pass::backward_data:
      return std::make_unique<DenseBackwardData<T>>(step);
    case Pass::backward_parameters:
      return std::make_unique<DenseBackwardParameters<T>>(step);
  }
  return nullptr;
}

template std::unique_ptr<Executor> make_dense<float>(const StepDescription&);
template std::unique_ptr<Executor> make_dense<double>(const StepDescription&);

}  // namespace trainyard::reference
