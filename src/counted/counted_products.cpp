// What exec/cudnn launches beside each call of cuDNN and cuBLASLt.
#include <functional>
#include <vector>

#include "counted/counted_executors.h"
#include "counted/counting_launcher.h"
#include "exec/conv_step.h"
#include "exec/functor/channel_rows.h"
#include "ops/dense.h"
#include "ops/elementwise.h"

namespace trainyard::counted {
namespace {

/// Launches in order. Nothing in them depends on addresses.
class Launches final : public Executor {
 public:
  Launches(LaunchLog& log, const StepDescription& step) : log_(log), step_(step) {}
  [[nodiscard]] std::size_t reserve_bytes() const override { return reserve_; }
  void bind(const StepTensors&) override {}
  void run() override {
    const std::size_t first = log_.size();
    for (const auto& launch : launches_) launch();
    log_.end_step(first, 0);
  }

  /// Kept from forward to the gradient of the input.
  void keep(std::size_t bytes) { reserve_ = bytes; }
  /// A call that reads or writes the step's maps and `weight_bytes`, once each; what it adds to, it
  /// reads too.
  void add_call(std::string_view kind, std::size_t weight_bytes) {
    const std::size_t added = step_.adds_gradient ? map_bytes(step_.inputs[0]) : 0;
    const std::size_t bytes =
        map_bytes(step_.inputs[0]) + map_bytes(step_.outputs[0]) + weight_bytes + added;
    const double flop = 2.0 * static_cast<double>(step_.signature.multiply_adds);
    launches_.push_back([this, kind, bytes, flop] { log_.add_call(kind, bytes, flop); });
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
  void add_packing(const WeightShape& weights) {
    add("packing", [weights]<class T>(const CountingLauncher& launcher, std::type_identity<T>) {
      launcher.each(weights.packed_elements(), PackWeights<T>{weights, nullptr, nullptr});
    });
  }
  void add_unpacking(const WeightShape& weights) {
    add("unpacking", [weights]<class T>(const CountingLauncher& launcher, std::type_identity<T>) {
      launcher.each(weights.plain_elements(), UnpackWeights<T>{weights, nullptr, nullptr});
    });
  }
  void add_bias(const ChannelRows& rows) {
    add("bias", [rows]<class T>(const CountingLauncher& launcher, std::type_identity<T>) {
      if (rows.packs(kPack<T>)) {
        launcher.each(rows.count * ((rows.channels + kPack<T> - 1) / kPack<T>),
                      AddBiasRows<T, kPack<T>>{rows, nullptr, nullptr});
      } else {
        launcher.each(rows.count * rows.channels, AddBiasRows<T, 1>{rows, nullptr, nullptr});
      }
    });
  }
  void add_bias_gradient(const ChannelRows& rows) {
    add("bias gradient", [rows]<class T>(const CountingLauncher& launcher, std::type_identity<T>) {
      launcher.columns(rows.count, rows.channels, BiasGradientRows<T>{rows, nullptr, nullptr},
                       nullptr);
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
  std::size_t reserve_ = 0;
  std::vector<std::function<void()>> launches_;
};

/// As packed for cuDNN: without groups the padding of the maps takes part in the product.
WeightShape conv_weights(const ConvStep& conv) {
  const bool padded = conv.attributes.groups == 1;
  return {.filters = conv.filters(),
          .channels = conv.channels(),
          .height = conv.attributes.kernel.h,
          .width = conv.attributes.kernel.w,
          .padded_filters = padded ? conv.maps.output.padded_channels : conv.filters(),
          .padded_channels = padded ? conv.maps.input.padded_channels : conv.channels()};
}

std::size_t packed_bytes(const WeightShape& weights, DType type) {
  return static_cast<std::size_t>(weights.packed_elements()) * size_of(type);
}

}  // namespace

std::unique_ptr<Executor> make_counted_conv(LaunchLog& log, const StepDescription& step) {
  const ConvStep conv = conv_step(step);
  const WeightShape weights = conv_weights(conv);
  const bool direct = step.storage == DType::f32 && weights.same_order();
  const bool groups = conv.attributes.groups > 1;
  auto launches = std::make_unique<Launches>(log, step);
  if (!direct && step.pass != Pass::forward_eval && step.pass != Pass::backward_parameters) {
    launches->keep(packed_bytes(weights, step.storage));
  }
  if (conv.forward() && !direct) launches->add_packing(weights);
  launches->add_call("convolution", packed_bytes(weights, step.storage));
  if (step.pass == Pass::backward_parameters && !direct) launches->add_unpacking(weights);
  const ChannelRows rows(step.outputs[0]);
  if (conv.adds_bias()) launches->add_bias(rows);
  if (step.pass == Pass::backward_parameters && conv.attributes.bias) {
    launches->add_bias_gradient(rows);
  }
  if (groups && conv.forward()) launches->add_padding(step.outputs[0]);
  if (groups && step.pass == Pass::backward_data) launches->add_padding(step.inputs[0]);
  return launches;
}

std::unique_ptr<Executor> make_counted_dense(LaunchLog& log, const StepDescription& step) {
  const DenseAttributes& dense = static_cast<const DenseOp&>(*step.op).values();
  const Shape& weight = step.signature.parameters[0].shape;
  const WeightShape weights{.filters = weight[0],
                            .channels = weight[1],
                            .padded_filters = weight[0],
                            .padded_channels = weight[1]};
  const bool direct = step.storage == DType::f32;  // then the product begins with the bias, too
  const std::int64_t samples = shape_of(step.outputs[0]).elements() / weight[0];
  const ChannelRows rows(plain_layout({samples, weight[0]}));
  auto launches = std::make_unique<Launches>(log, step);
  const bool forward = step.pass == Pass::forward_train || step.pass == Pass::forward_eval;
  if (!direct && step.pass != Pass::forward_eval && step.pass != Pass::backward_parameters) {
    launches->keep(packed_bytes(weights, step.storage));
  }
  if (forward && !direct) launches->add_packing(weights);
  launches->add_call("product", packed_bytes(weights, step.storage));
  if (dense.bias && forward && !direct) launches->add_bias(rows);
  if (dense.bias && step.pass == Pass::backward_parameters) launches->add_bias_gradient(rows);
  return launches;
}

}  // namespace trainyard::counted
