#include "compute/devices/reference_executors.h"
#include "compute/matmul/reference_products.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"
#include "ops/dense.h"

namespace trainyard::reference {
namespace {

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

/// All passes: x [n][features] and y [n][units], or their gradients; n counts samples or positions.
template <class T>
class Dense final : public Executor {
 public:
  explicit Dense(const StepDescription& step)
      : launcher_(step.threads),
        pass_(step.pass),
        dense_(op_as<DenseOp>(step).values()),
        own_bias_(dense_.bias && step.form.own_bias()),
        samples_(matrix_layout(dense_, step.inputs[0]).extent[0]),
        features_(step.signature.parameters[0].shape[1]),
        units_(step.signature.parameters[0].shape[0]),
        input_(matrix_layout(dense_, step.inputs[0]), step.storage, scratch_,
               step.form.adds_gradient),
        output_(matrix_layout(dense_, step.outputs[0]), step.storage, scratch_),
        weight_(step.signature.parameters[0].shape, step.storage, scratch_) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_.used(); }
  void bind(const StepTensors& tensors) override {
    const bool of_data = pass_ == Pass::backward_data,
               of_weights = pass_ == Pass::backward_parameters;
    input_.bind(matrix(of_data ? tensors.input_gradients[0] : tensors.inputs[0]),
                tensors.workspace);
    output_.bind(matrix(of_data || of_weights ? tensors.output_gradients[0] : tensors.outputs[0]),
                 tensors.workspace);
    if (of_weights) {
      weight_gradient_ = tensors.parameter_gradients[0].template as<T>();
      if (own_bias_) bias_gradient_ = tensors.parameter_gradients[1].template as<T>();
      return;
    }
    weight_.bind(tensors.parameters[0], tensors.workspace);
    if (own_bias_ && !of_data) bias_ = tensors.parameters[1].template as<T>();
  }
  void run() override {
    if (pass_ == Pass::backward_data) return run_backward_data();
    if (pass_ == Pass::backward_parameters) return run_backward_parameters();
    run_forward();
  }

 private:
  [[nodiscard]] TensorView matrix(TensorView view) const {
    view.layout = matrix_layout(dense_, view.layout);
    return view;
  }
  void run_forward() {
    input_.load(launcher_);
    const RowProducts<T> product{.out = output_.data(),
                                 .a = input_.data(),
                                 .b = weight_.load(launcher_),
                                 .bias = bias_,
                                 .accumulate = false,
                                 .rows = samples_,
                                 .count = units_,
                                 .length = features_};
    launcher_.rows(product.tiles(1), product);
    output_.store(launcher_);
  }
  void run_backward_data() {
    output_.load(launcher_);
    // dx[n] = sum over units of dy[n][u] * weight[u]
    const WeightedRows<T> product{.out = input_.data(),
                                  .terms = weight_.load(launcher_),
                                  .weight = output_.data(),
                                  .bias = nullptr,
                                  .rows = samples_,
                                  .count = units_,
                                  .length = features_,
                                  .row_stride = units_,
                                  .term_stride = 1};
    launcher_.rows(product.tiles(1), product);
    input_.store(launcher_);
  }
  void run_backward_parameters() {
    input_.load(launcher_);
    output_.load(launcher_);
    // dw[u] = sum over n of dy[n][u] * x[n]
    const WeightedRows<T> product{.out = weight_gradient_,
                                  .terms = input_.data(),
                                  .weight = output_.data(),
                                  .bias = nullptr,
                                  .rows = units_,
                                  .count = samples_,
                                  .length = features_,
                                  .row_stride = 1,
                                  .term_stride = units_};
    launcher_.rows(product.tiles(1), product);
    if (bias_gradient_ == nullptr) return;
    launcher_.each(units_, ColumnSums<T>{output_.data(), bias_gradient_, samples_, units_});
  }

  CpuLauncher launcher_;
  Pass pass_;
  DenseAttributes dense_;
  bool own_bias_;  // added here, and its gradient summed here
  std::int64_t samples_, features_, units_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_;   // or its gradient
  PlainTensor<T> output_;  // or its gradient
  Factors<T> weight_;
  const T* bias_ = nullptr;
  T* weight_gradient_ = nullptr;
  T* bias_gradient_ = nullptr;
};

}  // namespace

template <class T>
ExecutorPtr make_dense(const StepDescription& step) {
  return std::make_unique<Dense<T>>(step);
}

template ExecutorPtr make_dense<float>(const StepDescription&);
template ExecutorPtr make_dense<double>(const StepDescription&);

}  // namespace trainyard::reference
