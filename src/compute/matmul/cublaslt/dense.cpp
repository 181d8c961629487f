// Fully connected layers as matrix products over plain tensors. Weights are f32 in the flat blocks;
// if activations are stored in 16 bits they are read rounded (weight_packing.h). Gradients of
// the weights are f32.
#include "ops/dense.h"

#include <cstddef>

#include "base/error.h"
#include "compute/conv/cudnn/step_workspace.h"
#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"

namespace trainyard::cudnn {
namespace {

/// Shared by the three passes: x [samples, features], w [units, features], y [samples, units]; a
/// sample is a position with per_position.
class DenseStep : public Executor {
 public:
  DenseStep(ContextPtr context, const StepDescription& step)
      : context_(std::move(context)),
        dense_(op_as<DenseOp>(step).values()),
        storage_(step.storage),
        tf32_(step.tf32),
        samples_(matrix_layout(dense_, step.inputs[0]).extent[0]),
        units_(step.signature.parameters[0].shape[0]),
        features_(step.signature.parameters[0].shape[1]),
        workspace_(context_->settings().workspace_cap),
        stream_(context_->lane(step.form.queue).stream) {
    for (const Layout& given : {step.inputs[0], step.outputs[0]}) {
      const Layout layout = matrix_layout(dense_, given);
      TY_CHECK(same_memory(layout, plain_layout(shape_of(layout))), "dense layers read plain rows");
    }
  }
  [[nodiscard]] std::size_t workspace_bytes() const final { return workspace_.used(); }

 protected:
  /// The product, within the workspace that the offsets taken so far leave.
  [[nodiscard]] Matmul make_product(MatmulShape shape) {
    shape.factors = storage_;
    shape.tf32 = tf32_;
    Matmul product(context_->matmul_library(), shape, workspace_.left());
    product_offset_ = workspace_.take_for_library(product.workspace_bytes());
    return product;
  }
  /// [samples, units] as rows of channels.
  [[nodiscard]] ChannelRows output_rows() const {
    return ChannelRows(plain_layout({samples_, units_}));
  }

  ContextPtr context_;
  DenseAttributes dense_;
  DType storage_;
  bool tf32_;
  std::int64_t samples_, units_, features_;
  StepWorkspace workspace_;
  cudaStream_t stream_;
  std::size_t product_offset_ = 0;
};

/// y = x * w^T + bias, with a ReLU behind it where it is part of the step, or without the bias. The
/// product adds the bias where it can, unless a ReLU follows.
class DenseForward final : public DenseStep {
 public:
  DenseForward(ContextPtr context, const StepDescription& step)
      : DenseStep(std::move(context), step),
        relu_(step.form.relu),
        adds_bias_(dense_.bias && step.form.own_bias()),
        product_(make_product({.rows = samples_,
                               .columns = units_,
                               .depth = features_,
                               .b_transposed = true,
                               .result = storage_,
                               .bias = adds_bias_ && !relu_})) {}
  void bind(const StepTensors& tensors) override {
    input_ = tensors.inputs[0].data;
    output_ = tensors.outputs[0].data;
    weight_ = tensors.parameters[0].data;
    bias_ = adds_bias_ ? tensors.parameters[1].as<float>() : nullptr;
    scratch_ = address_at(tensors.workspace, product_offset_);
    if (product_.adds_bias()) product_.bind_bias(bias_);
  }
  void run() override {
    product_.run(stream_, input_, weight_, output_, scratch_);
    if (bias_ != nullptr && !product_.adds_bias()) {
      add_bias(stream_, storage_, output_rows(), output_, bias_, relu_);
    }
  }

 private:
  bool relu_, adds_bias_;
  Matmul product_;
  const void* input_ = nullptr;
  void* output_ = nullptr;
  const void* weight_ = nullptr;
  const float* bias_ = nullptr;
  void* scratch_ = nullptr;
};

/// dx = dy * w, or dx += dy * w.
class DenseBackwardData final : public DenseStep {
 public:
  DenseBackwardData(ContextPtr context, const StepDescription& step)
      : DenseStep(std::move(context), step),
        product_(make_product({.rows = samples_,
                               .columns = features_,
                               .depth = units_,
                               .result = storage_,
                               .adds = step.form.adds_gradient})) {}
  void bind(const StepTensors& tensors) override {
    output_gradient_ = tensors.output_gradients[0].data;
    input_gradient_ = tensors.input_gradients[0].data;
    weight_ = tensors.parameters[0].data;
    scratch_ = address_at(tensors.workspace, product_offset_);
  }
  void run() override {
    product_.run(stream_, output_gradient_, weight_, input_gradient_, scratch_);
  }

 private:
  Matmul product_;
  const void* output_gradient_ = nullptr;
  void* input_gradient_ = nullptr;
  const void* weight_ = nullptr;
  void* scratch_ = nullptr;
};

/// dw = dy^T * x, in f32; the bias's gradient is the sum of dy over the samples, unless the step of
/// a ReLU writes it.
class DenseBackwardParameters final : public DenseStep {
 public:
  DenseBackwardParameters(ContextPtr context, const StepDescription& step)
      : DenseStep(std::move(context), step),
        sums_bias_(dense_.bias && step.form.own_bias()),
        partials_offset_(sums_bias_ ? workspace_.take(bias_partial_bytes(output_rows())) : 0),
        product_(make_product({.rows = units_,
                               .columns = features_,
                               .depth = samples_,
                               .a_transposed = true,
                               .result = DType::f32})) {}
  void bind(const StepTensors& tensors) override {
    input_ = tensors.inputs[0].data;
    output_gradient_ = tensors.output_gradients[0].data;
    weight_gradient_ = tensors.parameter_gradients[0].data;
    bias_gradient_ = sums_bias_ ? tensors.parameter_gradients[1].as<float>() : nullptr;
    scratch_ = address_at(tensors.workspace, product_offset_);
    partials_ = address_at(tensors.workspace, partials_offset_);
    finished_ = tensors.batch.finished;
  }
  void run() override {
    product_.run(stream_, output_gradient_, input_, weight_gradient_, scratch_);
    if (bias_gradient_ != nullptr) {
      bias_gradient(stream_, storage_, output_rows(), output_gradient_, bias_gradient_, partials_,
                    finished_);
    }
  }

 private:
  bool sums_bias_;
  std::size_t partials_offset_;
  Matmul product_;
  const void* input_ = nullptr;
  const void* output_gradient_ = nullptr;
  void* weight_gradient_ = nullptr;
  float* bias_gradient_ = nullptr;
  void* scratch_ = nullptr;
  void* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

}  // namespace

ExecutorPtr make_dense(const ContextPtr& context, const StepDescription& step) {
  return make_pass<DenseForward, DenseBackwardData, DenseBackwardParameters>(step.pass, context,
                                                                             step);
}

}  // namespace trainyard::cudnn
