#include "gpu_arithmetic.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/elementwise/bias.h"
#include "compute/elementwise/functor.h"
#include "compute/norm/channels.h"
#include "compute/table.h"
#include "elements.h"
#include "launcher/launch.h"
#include "tensor/dtype.h"

namespace standin_tests {
namespace {

using namespace trainyard;

/// f of the type of activations, which is f32 or has 16 bits.
template <class F>
void with_storage(DType type, const F& f) {
  with_float_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, double>) f(std::type_identity<T>{});
  });
}

/// A convolution or a dense layer. The library's product comes first, of factors that TF32 rounds,
/// rounded to the storage type; a convolution's weight gradient is rounded too, as cuDNN writes it.
/// The bias is added to the stored product, except in f32 dense layers without a ReLU, whose
/// product starts with it.
class Layer final : public Executor {
 public:
  explicit Layer(const StepDescription& step)
      : rounds_(step.op->type() != "dense" && step.storage != DType::f32),
        step_(step),
        bare_op_(step.op->without_bias()),
        bias_apart_(bare_op_ != nullptr && !begins_with_bias(step)),
        rows_(step.outputs[0]),
        launcher_(1) {
    StepDescription inner = step;
    inner.tf32 = false;
    if (bias_apart_) {
      inner.op = bare_op_.get();
      inner.signature.parameters.resize(1);
      inner.form.relu = false;  // it follows the bias
    }
    product_ = make_reference_executors()->make(inner);
    partials_.resize(static_cast<std::size_t>(bias_partials(rows_)));
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return product_->workspace_bytes(); }
  void bind(const StepTensors& tensors) override {
    tensors_ = tensors;
    StepTensors factors = tensors;
    if (step_.tf32) {
      for (TensorView& view : factors.inputs) round_factor(view);
      for (TensorView& view : factors.output_gradients) round_factor(view);
      round_factor(factors.parameters[0]);
    }
    product_->bind(factors);
  }
  void run() override {
    for (auto& [from, values] : rounded_) {
      std::transform(from, from + values.size(), values.begin(), standin::rounded_to_tf32);
    }
    product_->run();
    const bool is_gradient = step_.pass == Pass::backward_parameters;
    if (is_gradient && rounds_) round(tensors_.parameter_gradients[0]);
    if (!bias_apart_ || step_.pass == Pass::backward_data || !step_.form.own_bias()) {
      return;
    }
    with_storage(step_.storage, [&]<class T>(std::type_identity<T>) {
      is_gradient ? sum_bias_gradient<T>() : add_bias<T>();
    });
  }

 private:
  /// A factor's own elements, and what TF32 makes of them.
  struct Factor {
    const float* from;
    std::vector<float> rounded;
  };
  void round_factor(TensorView& view) {
    const auto elements = static_cast<std::size_t>(span_elements(view.layout));
    rounded_.push_back({view.as<const float>(), std::vector<float>(elements)});
    view.data = rounded_.back().rounded.data();
  }
  static bool begins_with_bias(const StepDescription& step) {
    return step.op->type() == "dense" && step.storage == DType::f32 && !step.form.relu &&
           (step.pass == Pass::forward_train || step.pass == Pass::forward_eval);
  }
  void round(const TensorView& gradient) const {
    with_storage(step_.storage, [&]<class T>(std::type_identity<T>) {
      auto* const values = gradient.as<float>();
      for (std::int64_t i = 0; i < span_elements(gradient.layout); ++i) {
        values[i] = static_cast<float>(T(values[i]));
      }
    });
  }
  template <class T>
  void add_bias() const {
    add_bias_rows<T>(launcher_, rows_, tensors_.outputs[0].template as<T>(),
                     tensors_.parameters[1].template as<float>(), step_.form.relu);
  }
  template <class T>
  void sum_bias_gradient() {
    trainyard::sum_bias_gradient<T>(launcher_, rows_, tensors_.output_gradients[0].template as<T>(),
                                    tensors_.parameter_gradients[1].template as<float>(),
                                    partials_.data(), nullptr);
  }

  bool rounds_;
  StepDescription step_;
  std::unique_ptr<Op> bare_op_;  // null: the layer has no bias
  bool bias_apart_;
  ChannelRows rows_;
  CpuLauncher launcher_;
  std::unique_ptr<Executor> product_;
  std::vector<double> partials_;
  StepTensors tensors_;
  std::vector<Factor> rounded_;
};

class GpuArithmetic final : public ExecutorFactory {
 public:
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    if (step.form.sums_layer_bias()) return make_relu_bias_on(CpuLauncher(1), step);
    std::unique_ptr<Executor> executor = make_channel_executor(step);
    if (executor == nullptr) executor = make_functor_executor(step);
    // Products of rounded factors in f32, in the reference device's order, and functors.
    const bool recurrent = computation_of(step.op->type()) == Computation::recurrence;
    if (recurrent) return make_reference_executors()->make(step);
    return executor != nullptr ? std::move(executor) : std::make_unique<Layer>(step);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return make_functor_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return make_functor_accumulate(layout, layout, type, threads);
  }
  [[nodiscard]] std::string libraries() const override { return ""; }
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_gpu_arithmetic() { return std::make_unique<GpuArithmetic>(); }

}  // namespace standin_tests
