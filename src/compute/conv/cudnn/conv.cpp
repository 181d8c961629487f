// Convolutions: cuDNN's, and those of few channels ours. Weights are read packed, unless the plain
// ones are in the same order and type, and so are their gradients written (weight_packing.h).
#include <cstddef>
#include <string>

#include "compute/conv/cudnn/engine_tuner.h"
#include "compute/conv/cudnn/step_workspace.h"
#include "compute/conv/narrow/narrow_step.h"
#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/elementwise/cuda/functors.h"
#include "compute/weight_packing.h"
#include "device/cuda/check.h"

namespace trainyard::cudnn {
namespace {

/// Shared by the three passes: the graph and its engine.
class ConvExecutor : public Executor {
 public:
  ConvExecutor(ContextPtr context, const StepDescription& step)
      : context_(std::move(context)),
        step_(conv_step(step)),
        storage_(step.storage),
        graph_(conv_graph(step)),
        offsets_(conv_offsets(step, context_->settings().workspace_cap)),
        // Without groups the padding takes part in the product and comes out zero.
        clears_padding_(step_.attributes.groups > 1),
        tf32_(step.tf32),
        lane_(context_->lane(step.form.queue)),
        narrow_(is_narrow(step_, storage_)) {
    if (!narrow_) choose();
  }
  [[nodiscard]] std::size_t workspace_bytes() const final { return offsets_.workspace.used(); }
  [[nodiscard]] Algorithm algorithm() const final {
    return {.name = narrow_ ? "tensor cores, 16 channels"
                            : "cuDNN engine " + std::to_string(engine_.choice.engine)};
  }

 private:
  /// Chooses the engine, within the workspace that the step's own offsets leave.
  void choose() {
    const bool adds_bias = engine_may_add_bias(step_);
    engine_ = choose_engine(context_->search(), graph_, adds_bias ? step_.filters() : 0,
                            context_->rules(storage_, tf32_, offsets_.workspace.left()));
    if (adds_apart()) {
      result_ = offsets_.workspace.take(graph_.result().bytes());
      const Layout& layout = writes_output() ? step_.maps.output : step_.maps.input;
      add_ = cuda::make_functor_accumulate(lane_.stream, layout, storage_);
    }
    // Engines that failed during the search may have left CUDA's last error for the next launch.
    cuda::ignore(cudaGetLastError());
    engine_offset_ =
        offsets_.workspace.take_for_library(static_cast<std::size_t>(engine_.workspace_bytes));
  }
  /// Whether the step adds to a gradient and no engine can.
  [[nodiscard]] bool adds_apart() const {
    return graph_.adds_result && !engine_.choice.adds_result;
  }
  [[nodiscard]] bool writes_output() const { return step_.computes == ConvProduct::output; }
  /// Puts the engine's result into the workspace, from where it is added to `map`.
  void set_apart(TensorView& map, void* workspace) {
    const TensorView sum = map;
    map.data = address_at(workspace, result_);
    add_->bind({.inputs = {map}, .outputs = {sum}});
  }

 protected:
  /// `bias` is null unless the engine adds it.
  void bind_graph(const StepTensors& tensors, void* weight, void* bias = nullptr) {
    ConvMaps<TensorView> maps = step_.views(tensors);
    if (narrow_) {
      from_ = (writes_output() ? maps.input : maps.output).data;
      to_ = (writes_output() ? maps.output : maps.input).data;
      weight_ = weight;
      return;
    }
    if (adds_apart()) set_apart(writes_output() ? maps.output : maps.input, tensors.workspace);
    pack_ = make_variant_pack(context_->library(),
                              {.input = maps.input.data,
                               .weight = weight,
                               .output = maps.output.data,
                               .bias = bias,
                               .workspace = address_at(tensors.workspace, engine_offset_)});
  }
  void run_graph() const {
    if (narrow_) return narrow_conv(lane_.stream, storage_, step_, from_, weight_, to_);
    const Library& library = context_->library();
    library.check(library.call().execute(lane_.handle, engine_.plan->raw(), pack_->raw()),
                  "running a convolution");
    if (add_ != nullptr) add_->run();
  }
  void clear_padding(const TensorView& tensor) const {
    if (clears_padding_ && has_padding(tensor.layout)) {
      zero_padding_channels(lane_.stream, tensor);
    }
  }

  ContextPtr context_;
  ConvStep step_;
  DType storage_;
  ConvGraph graph_;
  ConvOffsets offsets_;
  bool clears_padding_;
  bool tf32_;
  Lane lane_;
  bool narrow_;  // computed by a kernel of ours, from and to these maps, without an engine
  const void* from_ = nullptr;
  const void* weight_ = nullptr;
  void* to_ = nullptr;
  EnginePlan engine_;
  std::size_t engine_offset_ = 0;
  DescriptorPtr pack_;
  std::size_t result_ = 0;  // in the workspace, and the executor that adds it to what is
  ExecutorPtr add_;         // there: null unless no engine can
};

class ConvForward final : public ConvExecutor {
 public:
  ConvForward(ContextPtr context, const StepDescription& step)
      : ConvExecutor(std::move(context), step),
        rounds_bias_(rounds_bias(step)),
        rows_(step.outputs[0]) {}
  void bind(const StepTensors& tensors) override {
    output_ = tensors.outputs[0];
    bias_ = step_.attributes.bias ? tensors.parameters[1].as<float>() : nullptr;
    void* const added = rounds_bias_ ? tensors.parameters[2].data : bias_;
    bind_graph(tensors, tensors.parameters[0].data, engine_.choice.adds_bias ? added : nullptr);
  }
  void run() override {
    run_graph();
    if (bias_ != nullptr && !engine_.choice.adds_bias) {
      add_bias(lane_.stream, storage_, rows_, output_.data, bias_, step_.form.relu);
    }
    clear_padding(output_);
  }

 private:
  bool rounds_bias_;
  ChannelRows rows_;  // the output's
  TensorView output_;
  float* bias_ = nullptr;
};

class ConvBackwardData final : public ConvExecutor {
 public:
  ConvBackwardData(ContextPtr context, const StepDescription& step)
      : ConvExecutor(std::move(context), step) {}
  void bind(const StepTensors& tensors) override {
    gradient_ = tensors.input_gradients[0];
    bind_graph(tensors, tensors.parameters[0].data);
  }
  void run() override {
    run_graph();
    clear_padding(gradient_);
  }

 private:
  TensorView gradient_;
};

class ConvBackwardParameters final : public ConvExecutor {
 public:
  ConvBackwardParameters(ContextPtr context, const StepDescription& step)
      : ConvExecutor(std::move(context), step), rows_(step.outputs[0]) {}
  void bind(const StepTensors& tensors) override {
    output_gradient_ = tensors.output_gradients[0].data;
    bias_gradient_ = step_.sums_bias() ? tensors.parameter_gradients[1].as<float>() : nullptr;
    partials_ = address_at(tensors.workspace, offsets_.partials);
    finished_ = tensors.batch.finished;
    bind_graph(tensors, tensors.parameter_gradients[0].data);
  }
  void run() override {
    run_graph();
    if (bias_gradient_ != nullptr) {
      bias_gradient(lane_.stream, storage_, rows_, output_gradient_, bias_gradient_, partials_,
                    finished_);
    }
  }

 private:
  ChannelRows rows_;  // rows of the output's gradient
  float* bias_gradient_ = nullptr;
  void* output_gradient_ = nullptr;
  void* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

}  // namespace

ExecutorPtr make_conv(const ContextPtr& context, const StepDescription& step) {
  return make_pass<ConvForward, ConvBackwardData, ConvBackwardParameters>(step.pass, context, step);
}

}  // namespace trainyard::cudnn
