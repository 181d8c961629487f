#include "compute/devices/cuda/cuda_executors.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compute/devices/cuda/executors.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/elementwise/cuda/functors.h"

namespace trainyard {
namespace {

using cudnn::ContextPtr;

class Executors final : public ExecutorFactory, public WeightPacking {
 public:
  explicit Executors(CudaExecutorSettings settings)
      : functors_(cuda::make_functor_executors(*settings.queue)),
        context_(std::make_shared<cudnn::Context>(std::move(settings))),
        packing_(
            cudnn::make_weight_packing(*context_->settings().device, *context_->settings().queue)) {
    const CudaExecutorSettings& given = context_->settings();
    if (given.side_queue != nullptr) {
      queues_.emplace(StepQueues{*given.device, *given.queue, *given.side_queue});
    }
  }

  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    const std::string_view type = step.op->type();
    if (type == "conv" || type == "conv_transpose") return cudnn::make_conv(context_, step);
    if (type == "dense") return cudnn::make_dense(context_, step);
    if (type == "lstm" || type == "simple_rnn") return cudnn::make_recurrent(context_, step);
    if (step.form.sums_layer_bias()) return cudnn::make_relu_bias(context_->stream(), step);
    std::unique_ptr<Executor> executor = cudnn::make_channels(context_->stream(), step);
    if (executor == nullptr) executor = functors_->make(step);
    TY_CHECK(executor != nullptr, step.op->type());
    return executor;
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return functors_->make_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return functors_->make_accumulate(layout, type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_pack(const std::vector<WeightShape>& shapes,
                                                    DType storage) const override {
    return packing_->make_pack(shapes, storage);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_unpack(const std::vector<WeightShape>& shapes,
                                                      DType storage) const override {
    return packing_->make_unpack(shapes, storage);
  }
  [[nodiscard]] const StepQueues* queues() const override { return queues_ ? &*queues_ : nullptr; }
  [[nodiscard]] std::string libraries() const override {
    return "cuDNN " + context_->library().version();
  }
  [[nodiscard]] std::string choices() const override { return context_->book().chosen(); }

 private:
  std::unique_ptr<ExecutorFactory> functors_;
  ContextPtr context_;
  std::unique_ptr<WeightPacking> packing_;
  std::optional<StepQueues> queues_;
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_cuda_executors(CudaExecutorSettings settings) {
  return std::make_unique<Executors>(std::move(settings));
}

}  // namespace trainyard
