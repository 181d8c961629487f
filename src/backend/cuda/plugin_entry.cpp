// The entry of the plugin, its only exported symbol, and the backend behind it.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "backend/backend.h"
#include "backend/cuda/launches.h"
#include "backend/cuda/libraries.h"
#include "base/error.h"
#include "compute/devices/cuda/cuda_executors.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"
#include "launcher/node_spans.h"

namespace trainyard {
namespace {

/// A recording whose launches note when they run.
class SpanRecording final : public TimedRecording {
 public:
  SpanRecording(Device& device, Queue& queue, const std::function<void()>& work)
      : queue_(queue), spans_(device.allocate(kMost * sizeof(NodeSpan))) {
    NodeSpans spans(device_spans(), kMost);
    recording_ = device.record(queue, work);
    launches_ = spans.take();
    TY_CHECK(launches_.size() < kMost, "recorded work has fewer launches than there are spans");
  }

  [[nodiscard]] std::vector<LaunchSpan> replay() override {
    std::vector<NodeSpan> spans(launches_.size(), kNoSpan);
    const std::size_t bytes = spans.size() * sizeof(NodeSpan);
    queue_.copy_from_host(spans_->data(), spans.data(), bytes);
    recording_->replay();
    queue_.copy_to_host(spans.data(), spans_->data(), bytes);
    queue_.wait();
    std::vector<LaunchSpan> found;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      found.push_back({.functor = launches_[i].functor,
                       .queue = queue_of(launches_[i].stream),
                       .begin = spans[i].begin,
                       .end = spans[i].end});
    }
    return found;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  [[nodiscard]] NodeSpan* device_spans() const { return static_cast<NodeSpan*>(spans_->data()); }
  [[nodiscard]] std::size_t queue_of(const void* stream) {
    const auto known = std::ranges::find(streams_, stream);
    const auto number = static_cast<std::size_t>(known - streams_.begin());
    if (known == streams_.end()) streams_.push_back(stream);
    return number;
  }

  Queue& queue_;
  std::unique_ptr<DeviceBuffer> spans_;
  std::unique_ptr<Recording> recording_;
  std::vector<NodeSpans::Launch> launches_;
  std::vector<const void*> streams_;
};

class CudaBackend final : public Backend {
 public:
  [[nodiscard]] GpuSurvey survey() const override { return cuda::survey(); }
  [[nodiscard]] std::vector<LibraryFinding> open_libraries(
      std::span<const fs::path> folders) override {
    int driver = 0;
    TY_CUDA(cudaDriverGetVersion(&driver));
    return cuda::open_libraries(folders, driver / 1000);
  }
  [[nodiscard]] std::unique_ptr<Device> make_device(int ordinal, bool overlap) const override {
    TY_CUDA(cudaSetDevice(ordinal));
    return cuda::make_cuda_device(ordinal, overlap ? cuda::Overlap::allowed : cuda::Overlap::none);
  }
  [[nodiscard]] std::unique_ptr<ExecutorFactory> make_executors(
      CudaExecutorSettings settings) const override {
    return make_cuda_executors(std::move(settings));
  }
  [[nodiscard]] std::unique_ptr<UpdateLaunches> make_update_launches(
      const Queue& queue) const override {
    return cuda::make_update_launches(cuda::stream_of(queue));
  }
  [[nodiscard]] std::unique_ptr<BatchLaunches> make_batch_launches(
      const Queue& queue) const override {
    return cuda::make_batch_launches(cuda::stream_of(queue));
  }
  [[nodiscard]] std::unique_ptr<TimedRecording> record_timed(
      Device& device, Queue& queue, const std::function<void()>& work) const override {
    if (!kTimesNodes) return nullptr;
    return std::make_unique<SpanRecording>(device, queue, work);
  }
  [[nodiscard]] std::unique_ptr<Communicator> make_nccl_ranks(
      const NcclSettings& settings) const override {
    return trainyard::make_nccl_ranks(settings);
  }
};

Backend* make_backend() { return std::make_unique<CudaBackend>().release(); }

}  // namespace
}  // namespace trainyard

extern "C" {
extern const trainyard::PluginEntry trainyard_plugin;
const trainyard::PluginEntry trainyard_plugin{TRAINYARD_INTERFACE, &trainyard::make_backend};
}
