#include "compute/devices/cuda/cuda_executors.h"

#include <optional>
#include <utility>

#include "compute/devices/cuda/context.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/elementwise/cuda/functors.h"
#include "compute/table.h"

namespace trainyard {
namespace {

using cudnn::ContextPtr;

class Executors final : public DeviceExecutors, public WeightPacking {
 public:
  explicit Executors(CudaExecutorSettings settings)
      : context_(std::make_shared<cudnn::Context>(std::move(settings))),
        packing_(
            cudnn::make_weight_packing(*context_->settings().device, *context_->settings().queue)) {
    const CudaExecutorSettings& given = context_->settings();
    if (given.side_queue != nullptr) {
      queues_.emplace(StepQueues{*given.device, *given.queue, *given.side_queue});
    }
  }

  [[nodiscard]] ExecutorPtr make_reorder(const Layout& from, DType from_type, const Layout& to,
                                         DType to_type, int /*threads*/) const override {
    return cuda::make_functor_reorder(context_->stream(), from, from_type, to, to_type);
  }
  [[nodiscard]] ExecutorPtr make_accumulate(const Layout& layout, DType type,
                                            int /*threads*/) const override {
    return cuda::make_functor_accumulate(context_->stream(), layout, type);
  }
  [[nodiscard]] ExecutorPtr make_pack(const std::vector<WeightShape>& shapes,
                                      DType storage) const override {
    return packing_->make_pack(shapes, storage);
  }
  [[nodiscard]] ExecutorPtr make_unpack(const std::vector<WeightShape>& shapes,
                                        DType storage) const override {
    return packing_->make_unpack(shapes, storage);
  }
  [[nodiscard]] std::unique_ptr<MatrixProduct> make_matrix_product(const ProductShape& shape,
                                                                   DType type,
                                                                   int /*threads*/) const override {
    constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // as NVIDIA advises for Hopper
    return cudnn::make_matrix_product(context_, shape, type, true, kWorkspace);
  }
  [[nodiscard]] const StepQueues* queues() const override { return queues_ ? &*queues_ : nullptr; }
  [[nodiscard]] std::string libraries() const override {
    return "cuDNN " + context_->library().version();
  }
  [[nodiscard]] std::string choices() const override { return context_->book().chosen(); }

 protected:
  [[nodiscard]] ExecutorPtr make_convolution(const StepDescription& step) const override {
    return cudnn::make_conv(context_, step);
  }
  [[nodiscard]] ExecutorPtr make_product(const StepDescription& step) const override {
    return cudnn::make_dense(context_, step);
  }
  [[nodiscard]] ExecutorPtr make_recurrence(const StepDescription& step) const override {
    return cudnn::make_recurrent(context_, step);
  }
  [[nodiscard]] ExecutorPtr make_batch_norm(const StepDescription& step) const override {
    return cudnn::make_channels(context_->stream(), step);
  }
  [[nodiscard]] ExecutorPtr make_pooling(const StepDescription& step) const override {
    return cudnn::make_channels(context_->stream(), step);
  }
  [[nodiscard]] ExecutorPtr make_functors(const StepDescription& step) const override {
    return step.form.sums_layer_bias() ? cudnn::make_relu_bias(context_->stream(), step)
                                       : cuda::make_functor_executor(context_->stream(), step);
  }

 private:
  ContextPtr context_;
  std::unique_ptr<WeightPacking> packing_;
  std::optional<StepQueues> queues_;
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_cuda_executors(CudaExecutorSettings settings) {
  return std::make_unique<Executors>(std::move(settings));
}

}  // namespace trainyard
