// What conv/cudnn and matmul/cublaslt launch in addition to each call of cuDNN and cuBLASLt.
#include <functional>
#include <vector>

#include "compute/channel_rows.h"
#include "compute/conv/narrow/narrow_step.h"
#include "compute/elementwise/bias.h"
#include "compute/elementwise/map.h"
#include "compute/weight_packing.h"
#include "counted/counted_gpu.h"
#include "counted/counting_launcher.h"
#include "ops/dense.h"

namespace trainyard::counted {
namespace {

/// Launches in order. Nothing in them depends on addresses.
class Launches final : public Executor {
 public:
  Launches(LaunchLog& log, const StepDescription& step) : log_(log), step_(step) {}
  void bind(const StepTensors&) override {}
  void run() override {
    const std::size_t first = log_.size();
    for (const auto& launch : launches_) launch();
    log_.end_step(first, 0, step_.form.on_side_queue());
  }

  /// A call that reads or writes the step's maps and `weight_bytes`, once each; what it adds to, it
  /// reads too.
  void add_call(std::string_view kind, std::size_t weight_bytes, const std::string& functor = "") {
    const std::size_t added = step_.form.adds_gradient ? map_bytes(step_.inputs[0]) : 0;
    const std::size_t bytes =
        map_bytes(step_.inputs[0]) + map_bytes(step_.outputs[0]) + weight_bytes + added;
    const double flop = 2.0 * static_cast<double>(step_.signature.multiply_adds);
    launches_.push_back(
        [this, kind, bytes, flop, functor] { log_.add_call(kind, bytes, flop, functor); });
  }
  /// `launch` with the launcher and the storage type, as `kind`.
  template <class F>
  void add(std::string_view kind, const F& launch) {
    launches_.push_back([this, kind, launch] {
      log_.set_kind(kind);
      GpuFloats{}(step_.storage, [&]<class T>(std::type_identity<T> type) {
        launch(CountingLauncher(log_), type);
      });
    });
  }
  void add_bias(const ChannelRows& rows) {
    add("bias", [rows, relu = step_.form.relu]<class T>(const CountingLauncher& launcher,
                                                        std::type_identity<T>) {
      add_bias_rows<T>(launcher, rows, nullptr, nullptr, relu);
    });
  }
  void add_bias_gradient(const ChannelRows& rows) {
    add("bias gradient", [rows]<class T>(const CountingLauncher& launcher, std::type_identity<T>) {
      sum_bias_gradient<T>(launcher, rows, nullptr, nullptr, nullptr, nullptr);
    });
  }
  void add_padding(const Layout& layout) {
    if (!has_padding(layout)) return;
    add("padding", [layout]<class T>(const CountingLauncher& launcher, std::type_identity<T>) {
      zero_padding<T>(launcher, {nullptr, DTypeOf<T>::value, layout});
    });
  }

 private:
  [[nodiscard]] std::size_t map_bytes(const Layout& layout) const {
    return static_cast<std::size_t>(span_elements(layout)) * size_of(step_.storage);
  }

  LaunchLog& log_;
  StepDescription step_;
  std::vector<std::function<void()>> launches_;
};

/// Bytes of weights as the libraries read them.
std::size_t packed_bytes(const WeightShape& weights, DType type) {
  return static_cast<std::size_t>(weights.packed_elements()) * size_of(type);
}

}  // namespace

ExecutorPtr make_counted_conv(LaunchLog& log, const StepDescription& step) {
  const ConvStep conv = conv_step(step);
  const bool groups = conv.attributes.groups > 1;
  auto launches = std::make_unique<Launches>(log, step);
  const bool narrow = is_narrow(conv, step.storage);
  launches->add_call("convolution", packed_bytes(weight_shape(conv), step.storage),
                     narrow ? functor_name<NarrowConv<BFloat16, false, false>>() : "");
  const ChannelRows rows(step.outputs[0]);
  if (conv.adds_bias()) launches->add_bias(rows);
  if (conv.sums_bias()) launches->add_bias_gradient(rows);
  if (groups && conv.forward()) launches->add_padding(step.outputs[0]);
  if (groups && step.pass == Pass::backward_data) launches->add_padding(step.inputs[0]);
  return launches;
}

ExecutorPtr make_counted_relu_bias(LaunchLog& log, const StepDescription& step) {
  return make_relu_bias_on(CountingLauncher(log), step);
}

ExecutorPtr make_counted_dense(LaunchLog& log, const StepDescription& step) {
  const DenseAttributes& dense = op_as<DenseOp>(step).values();
  const Shape& weight = step.signature.parameters[0].shape;
  // Then the product begins with the bias, too.
  const bool direct = step.storage == DType::f32 && !step.form.relu;
  const std::int64_t samples = shape_of(step.outputs[0]).elements() / weight[0];
  const ChannelRows rows(plain_layout({samples, weight[0]}));
  auto launches = std::make_unique<Launches>(log, step);
  const bool forward = step.pass == Pass::forward_train || step.pass == Pass::forward_eval;
  launches->add_call("product", packed_bytes(rounded_shape(weight), step.storage));
  if (dense.bias && forward && !direct && step.form.own_bias()) launches->add_bias(rows);
  const bool sums = step.pass == Pass::backward_parameters && step.form.own_bias();
  if (dense.bias && sums) launches->add_bias_gradient(rows);
  return launches;
}

}  // namespace trainyard::counted
