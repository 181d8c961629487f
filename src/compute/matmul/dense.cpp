// Fully connected layers: products of plain float matrices, of which other layouts and types are
// copies.
#include "ops/dense.h"

#include "compute/elementwise/bias.h"
#include "compute/matmul/product.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"

namespace trainyard::product {
namespace {

constexpr std::size_t kCacheLine = 64;

/// Shared by the three passes: x [samples][features], w [units][features], y [samples][units]; a
/// sample is a position with per_position.
class DenseStep : public Executor {
 public:
  explicit DenseStep(const StepDescription& step)
      : launcher_(step.threads),
        dense_(op_as<DenseOp>(step).values()),
        samples_(matrix_layout(dense_, step.inputs[0]).extent[0]),
        units_(step.signature.parameters[0].shape[0]),
        features_(step.signature.parameters[0].shape[1]),
        input_(matrix_layout(dense_, step.inputs[0]), step.storage, workspace_),
        output_(matrix_layout(dense_, step.outputs[0]), step.storage, workspace_) {}
  [[nodiscard]] std::size_t workspace_bytes() const final { return workspace_.used(); }
  [[nodiscard]] Algorithm algorithm() const final {
    return {.name = best_kernels().lanes == 16 ? "product AVX-512" : "product AVX2"};
  }

 protected:
  [[nodiscard]] TensorView matrix(TensorView view) const {
    view.layout = matrix_layout(dense_, view.layout);
    return view;
  }
  [[nodiscard]] Product make_product(const ProductShape& shape) {
    Product product(shape, launcher_.threads());
    product_at_ = workspace_.take(product.workspace_bytes());
    return product;
  }
  void bind_product(const StepTensors& tensors) {
    scratch_ = address_at(tensors.workspace, product_at_);
  }

  CpuLauncher launcher_;
  DenseAttributes dense_;
  std::int64_t samples_, units_, features_;
  OffsetAllocator workspace_{kCacheLine};
  PlainTensor<float> input_, output_;
  std::size_t product_at_ = 0;
  void* scratch_ = nullptr;
};

/// y = x * w^T + bias, and the ReLU behind it where it is part of the step.
class DenseForward final : public DenseStep {
 public:
  explicit DenseForward(const StepDescription& step)
      : DenseStep(step),
        relu_(step.form.relu),
        weight_(step.signature.parameters[0].shape, step.storage, workspace_),
        product_(make_product(
            {.rows = samples_, .columns = units_, .depth = features_, .b_transposed = true})) {}
  void bind(const StepTensors& tensors) override {
    input_.bind(matrix(tensors.inputs[0]), tensors.workspace);
    output_.bind(matrix(tensors.outputs[0]), tensors.workspace);
    weight_.bind(tensors.parameters[0], tensors.workspace);
    bias_ = dense_.bias ? tensors.parameters[1].as<float>() : nullptr;
    bind_product(tensors);
  }
  void run() override {
    input_.load(launcher_);
    product_.run(input_.data(), weight_.load(launcher_), output_.data(), scratch_, {bias_, relu_});
    output_.store(launcher_);
  }

 private:
  bool relu_;
  Factors<float> weight_;
  Product product_;
  const float* bias_ = nullptr;
};

/// dx = dy * w.
class DenseBackwardData final : public DenseStep {
 public:
  explicit DenseBackwardData(const StepDescription& step)
      : DenseStep(step),
        weight_(step.signature.parameters[0].shape, step.storage, workspace_),
        product_(make_product({.rows = samples_, .columns = features_, .depth = units_})) {}
  void bind(const StepTensors& tensors) override {
    input_.bind(matrix(tensors.input_gradients[0]), tensors.workspace);
    output_.bind(matrix(tensors.output_gradients[0]), tensors.workspace);
    weight_.bind(tensors.parameters[0], tensors.workspace);
    bind_product(tensors);
  }
  void run() override {
    output_.load(launcher_);
    product_.run(output_.data(), weight_.load(launcher_), input_.data(), scratch_);
    input_.store(launcher_);
  }

 private:
  Factors<float> weight_;
  Product product_;
};

/// dw = dy^T * x; the bias's gradient is the sum of dy over the samples.
class DenseBackwardParameters final : public DenseStep {
 public:
  explicit DenseBackwardParameters(const StepDescription& step)
      : DenseStep(step),
        rows_(plain_layout({samples_, units_})),
        partials_at_(
            workspace_.take(static_cast<std::size_t>(bias_partials(rows_)) * sizeof(double))),
        product_(make_product(
            {.rows = units_, .columns = features_, .depth = samples_, .a_transposed = true})) {
    TY_CHECK(step.form.own_bias(), "cpu_target() has no steps that sum a bias's gradient");
  }
  void bind(const StepTensors& tensors) override {
    input_.bind(matrix(tensors.inputs[0]), tensors.workspace);
    output_.bind(matrix(tensors.output_gradients[0]), tensors.workspace);
    weight_gradient_ = tensors.parameter_gradients[0].as<float>();
    bias_gradient_ = dense_.bias ? tensors.parameter_gradients[1].as<float>() : nullptr;
    partials_ = static_cast<double*>(address_at(tensors.workspace, partials_at_));
    finished_ = tensors.batch.finished;
    bind_product(tensors);
  }
  void run() override {
    input_.load(launcher_);
    output_.load(launcher_);
    product_.run(output_.data(), input_.data(), weight_gradient_, scratch_);
    if (bias_gradient_ == nullptr) return;
    sum_bias_gradient(launcher_, rows_, static_cast<const float*>(output_.data()), bias_gradient_,
                      partials_, finished_);
  }

 private:
  ChannelRows rows_;  // rows of output_
  std::size_t partials_at_;
  Product product_;
  float* weight_gradient_ = nullptr;
  float* bias_gradient_ = nullptr;
  double* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

}  // namespace

ExecutorPtr make_dense(const StepDescription& step) {
  return make_pass<DenseForward, DenseBackwardData, DenseBackwardParameters>(step.pass, step);
}

}  // namespace trainyard::product
