#include "compute/elementwise/cuda/functors.h"

#include <string>

#include "device/cuda/cuda_device.h"

namespace trainyard::cuda {
namespace {

class CudaFunctors final : public ExecutorFactory {
 public:
  explicit CudaFunctors(cudaStream_t stream) : stream_(stream) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    std::unique_ptr<Executor> executor = make_activation_executor(stream_, step);
    if (executor == nullptr) executor = make_place_executor(stream_, step);
    if (executor == nullptr) executor = make_loss_executor(stream_, step);
    return executor != nullptr ? std::move(executor) : make_other_executor(stream_, step);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int /*threads*/) const override {
    return make_functor_reorder(stream_, from, from_type, to, to_type);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int /*threads*/) const override {
    return make_functor_accumulate(stream_, layout, type);
  }
  [[nodiscard]] std::string libraries() const override { return ""; }

 private:
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<ExecutorFactory> make_functor_executors(const Queue& queue) {
  return std::make_unique<CudaFunctors>(stream_of(queue));
}

}  // namespace trainyard::cuda
