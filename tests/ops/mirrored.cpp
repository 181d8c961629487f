#include "mirrored.h"

#include <map>

#include "base/error.h"

namespace trainyard::op_tests {
namespace {

class MirroredExecutor final : public Executor {
 public:
  MirroredExecutor(std::unique_ptr<Executor> executor, Device& device, Queue& queue)
      : executor_(std::move(executor)), device_(device), queue_(queue) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }

  void bind(const StepTensors& tensors) override {
    StepTensors there = tensors;
    for (auto* list :
         {&there.inputs, &there.outputs, &there.output_gradients, &there.input_gradients,
          &there.parameters, &there.parameter_gradients, &there.running, &there.batch_statistics}) {
      for (TensorView& view : *list) {
        const auto elements = static_cast<std::size_t>(span_elements(view.layout));
        view.data = mirrored(view.data, elements * size_of(view.type));
      }
    }
    there.reserve = mirrored(tensors.reserve, reserve_bytes());
    there.workspace = mirrored(tensors.workspace, workspace_bytes());
    const auto batch = static_cast<std::size_t>(first_of(tensors).layout.extent[0]);
    there.batch.state = static_cast<const StepState*>(
        mirrored(const_cast<StepState*>(tensors.batch.state), sizeof(StepState)));
    there.batch.sample_index = static_cast<const std::int64_t*>(mirrored(
        const_cast<std::int64_t*>(tensors.batch.sample_index), batch * sizeof(std::int64_t)));
    executor_->bind(there);
  }

  void run() override {
    for (auto& [host, mirror] : mirrors_) {
      queue_.copy_from_host(mirror.device->data(), host, mirror.bytes);
    }
    executor_->run();
    for (auto& [host, mirror] : mirrors_) {
      queue_.copy_to_host(host, mirror.device->data(), mirror.bytes);
    }
    queue_.wait();
  }

 private:
  struct Mirror {
    std::size_t bytes = 0;
    std::unique_ptr<DeviceBuffer> device;
  };

  static const TensorView& first_of(const StepTensors& tensors) {
    return tensors.inputs[0].data != nullptr ? tensors.inputs[0] : tensors.output_gradients[0];
  }

  /// The device address of memory that may be passed several times (in place).
  void* mirrored(void* host, std::size_t bytes) {
    if (host == nullptr || bytes == 0) return nullptr;
    Mirror& mirror = mirrors_[host];
    if (mirror.device == nullptr) {
      mirror.bytes = bytes;
      mirror.device = device_.allocate(bytes);
    }
    TY_CHECK(mirror.bytes == bytes, "memory that is shared is shared whole");
    return mirror.device->data();
  }

  std::unique_ptr<Executor> executor_;
  Device& device_;
  Queue& queue_;
  std::map<void*, Mirror> mirrors_;
};

}  // namespace

std::unique_ptr<Executor> MirroredExecutors::make(const StepDescription& step) const {
  std::unique_ptr<Executor> executor = executors_.make(step);
  TY_CHECK(executor != nullptr, step.op->type());
  return std::make_unique<MirroredExecutor>(std::move(executor), device_, queue_);
}

}  // namespace trainyard::op_tests
