#include "backend/cuda/timed_recording.h"

#include <algorithm>

#include "base/error.h"
#include "launcher/node_spans.h"

namespace trainyard::cuda {
namespace {

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

}  // namespace

std::unique_ptr<TimedRecording> record_timed(Device& device, Queue& queue,
                                             const std::function<void()>& work) {
  if (!kTimesNodes) return nullptr;
  return std::make_unique<SpanRecording>(device, queue, work);
}

}  // namespace trainyard::cuda
