// Convolutions. Weights are plain OIHW in f32 outside (the flat blocks). In training they are
// packed once a step, before the forward pass, and kept for the gradient of the input; gradients of
// the weights are unpacked as they come.
#include "ops/conv.h"

#include <cstddef>

#include "base/error.h"
#include "device/cuda/check.h"
#include "exec/cudnn/engine_tuner.h"
#include "exec/cudnn/executors.h"
#include "exec/cudnn/kernels.h"
#include "exec/cudnn/step_workspace.h"

namespace trainyard::cudnn {
namespace {

WeightShape weight_shape(const ConvAttributes& conv, const ConvGraph& graph,
                         std::int64_t channels) {
  return {.filters = conv.filters,
          .channels = channels / conv.groups,
          .height = conv.kernel.h,
          .width = conv.kernel.w,
          .padded_filters = graph.weight.extents[0],
          .padded_channels = graph.weight.extents[1]};
}

/// What the three passes share: the graph, its engine, and where the packed weights lie.
class ConvStep : public Executor {
 public:
  ConvStep(ContextPtr context, const StepDescription& step)
      : context_(std::move(context)),
        attributes_(static_cast<const ConvOp&>(*step.op).values()),
        storage_(step.storage),
        graph_(conv_graph(step)),
        shape_(weight_shape(attributes_, graph_, step.inputs[0].extent[1])),
        // Without groups the padding takes part in the product and comes out zero.
        clears_padding_(attributes_.groups > 1),
        direct_(step.storage == DType::f32 && shape_.same_order()),
        tf32_(step.tf32),
        workspace_(context_->settings().workspace_cap) {}
  [[nodiscard]] std::size_t workspace_bytes() const final { return workspace_.used(); }

 protected:
  [[nodiscard]] std::size_t packed_bytes() const {
    return static_cast<std::size_t>(shape_.packed_elements()) * size_of(storage_);
  }
  /// Chooses the engine, for what the places taken so far leave of the workspace.
  void choose() {
    const bool adds_bias = attributes_.bias && graph_.computes == ConvGraph::Computes::output;
    engine_ = choose_engine(context_->search(), graph_, adds_bias ? attributes_.filters : 0,
                            context_->rules(storage_, tf32_, workspace_.left()));
    // Engines that failed on the way may have left CUDA's last error to the next launch.
    cuda::ignore(cudaGetLastError());
    engine_place_ = workspace_.take_for_library(static_cast<std::size_t>(engine_.workspace_bytes));
  }
  void bind_graph(GraphAddresses addresses, void* workspace) {
    addresses.workspace = place_at(workspace, engine_place_);
    pack_ = make_variant_pack(context_->library(), addresses);
  }
  void run_graph() const {
    const Library& library = context_->library();
    library.check(library.call().execute(context_->handle(), engine_.plan->raw(), pack_->raw()),
                  "running a convolution");
  }
  void clear_padding(const TensorView& tensor) const {
    if (clears_padding_ && has_padding(tensor.layout)) {
      zero_padding_channels(context_->stream(), tensor);
    }
  }

  ContextPtr context_;
  ConvAttributes attributes_;
  DType storage_;
  ConvGraph graph_;
  WeightShape shape_;
  bool clears_padding_;
  bool direct_;  // the weights of the flat block are read and written as they are
  bool tf32_;
  EnginePlan engine_;
  StepWorkspace workspace_;
  std::size_t engine_place_ = 0;
  DescriptorPtr pack_;
};

class ConvForward final : public ConvStep {
 public:
  ConvForward(ContextPtr context, const StepDescription& step)
      : ConvStep(std::move(context), step),
        training_(step.pass == Pass::forward_train),
        rows_(step.outputs[0]) {
    if (!direct_ && training_) workspace_.leave(packed_bytes());  // they lie in the reserve
    if (!direct_ && !training_) packed_place_ = workspace_.take(packed_bytes());
    if (rounds_bias()) rounded_bias_place_ = workspace_.take(rounded_bias_bytes());
    choose();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    return training_ && !direct_ ? packed_bytes() : 0;
  }
  void bind(const StepTensors& tensors) override {
    output_ = tensors.outputs[0];
    weight_ = tensors.parameters[0].as<float>();
    packed_ = training_ ? tensors.reserve : place_at(tensors.workspace, packed_place_);
    bias_ = attributes_.bias ? tensors.parameters[1].as<float>() : nullptr;
    rounded_bias_ = rounds_bias() ? place_at(tensors.workspace, rounded_bias_place_) : nullptr;
    void* const added = rounds_bias() ? rounded_bias_ : bias_;
    bind_graph({.input = tensors.inputs[0].data,
                .weight = direct_ ? weight_ : packed_,
                .output = output_.data,
                .bias = engine_.choice.adds_bias ? added : nullptr},
               tensors.workspace);
  }
  void run() override {
    const cudaStream_t stream = context_->stream();
    if (!direct_) pack_weights(stream, storage_, shape_, weight_, packed_);
    if (rounded_bias_ != nullptr && engine_.choice.adds_bias) {
      round_bias(stream, storage_, attributes_.filters, bias_, rounded_bias_);
    }
    run_graph();
    if (bias_ != nullptr && !engine_.choice.adds_bias) {
      add_bias(stream, storage_, rows_, output_.data, bias_);
    }
    clear_padding(output_);
  }

 private:
  /// An engine that adds the bias takes it in the storage type.
  [[nodiscard]] bool rounds_bias() const { return attributes_.bias && storage_ != DType::f32; }
  [[nodiscard]] std::size_t rounded_bias_bytes() const {
    return static_cast<std::size_t>(attributes_.filters) * size_of(storage_);
  }

  bool training_;
  ChannelRows rows_;  // of the output
  std::size_t packed_place_ = 0, rounded_bias_place_ = 0;
  TensorView output_;
  float* weight_ = nullptr;
  float* bias_ = nullptr;
  void* rounded_bias_ = nullptr;
  void* packed_ = nullptr;
};

class ConvBackwardData final : public ConvStep {
 public:
  ConvBackwardData(ContextPtr context, const StepDescription& step)
      : ConvStep(std::move(context), step) {
    choose();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return direct_ ? 0 : packed_bytes(); }
  void bind(const StepTensors& tensors) override {
    gradient_ = tensors.input_gradients[0];
    bind_graph({.input = gradient_.data,
                .weight = direct_ ? tensors.parameters[0].data : tensors.reserve,
                .output = tensors.output_gradients[0].data},
               tensors.workspace);
  }
  void run() override {
    run_graph();
    clear_padding(gradient_);
  }

 private:
  TensorView gradient_;
};

class ConvBackwardParameters final : public ConvStep {
 public:
  ConvBackwardParameters(ContextPtr context, const StepDescription& step)
      : ConvStep(std::move(context), step), rows_(step.outputs[0]) {
    if (!direct_) packed_place_ = workspace_.take(packed_bytes());
    if (attributes_.bias) partials_place_ = workspace_.take(bias_partial_bytes(rows_));
    choose();
  }
  void bind(const StepTensors& tensors) override {
    weight_gradient_ = tensors.parameter_gradients[0].as<float>();
    packed_ = place_at(tensors.workspace, packed_place_);
    output_gradient_ = tensors.output_gradients[0].data;
    bias_gradient_ = attributes_.bias ? tensors.parameter_gradients[1].as<float>() : nullptr;
    partials_ = place_at(tensors.workspace, partials_place_);
    bind_graph({.input = tensors.inputs[0].data,
                .weight = direct_ ? weight_gradient_ : packed_,
                .output = output_gradient_},
               tensors.workspace);
  }
  void run() override {
    const cudaStream_t stream = context_->stream();
    run_graph();
    if (!direct_) unpack_weights(stream, storage_, shape_, packed_, weight_gradient_);
    if (bias_gradient_ != nullptr) {
      bias_gradient(stream, storage_, rows_, output_gradient_, bias_gradient_, partials_);
    }
  }

 private:
  ChannelRows rows_;  // of the output's gradient
  std::size_t packed_place_ = 0, partials_place_ = 0;
  float* weight_gradient_ = nullptr;
  float* bias_gradient_ = nullptr;
  void* output_gradient_ = nullptr;
  void* packed_ = nullptr;
  void* partials_ = nullptr;
};

}  // namespace

std::unique_ptr<Executor> make_conv(const ContextPtr& context, const StepDescription& step) {
  switch (step.pass) {
    case Pass::backward_data:
      return std::make_unique<ConvBackwardData>(context, step);
    case Pass::backward_parameters:
      return std::make_unique<ConvBackwardParameters>(context, step);
    default:
      return std::make_unique<ConvForward>(context, step);
  }
}

}  // namespace trainyard::cudnn
