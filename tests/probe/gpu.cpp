#include "gpu.h"

#include "base/error.h"
#include "base/handle.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"

namespace trainyard::probe {
namespace {

using TimedEvent = Handle<cudaEvent_t, cuda::DestroyEvent>;

/// The tree's events have no times.
TimedEvent make_timed_event() {
  cudaEvent_t event = nullptr;
  TY_CUDA(cudaEventCreate(&event));
  return TimedEvent(event);
}

double microseconds_of(cudaStream_t stream, const std::function<void()>& work) {
  const TimedEvent begin = make_timed_event(), end = make_timed_event();
  TY_CUDA(cudaEventRecord(begin.get(), stream));
  work();
  TY_CUDA(cudaEventRecord(end.get(), stream));
  TY_CUDA(cudaEventSynchronize(end.get()));
  float milliseconds = 0;
  TY_CUDA(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return 1e3 * static_cast<double>(milliseconds);
}

}  // namespace

std::string no_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? "no GPU is visible" : "";
}

Gpu::Gpu(int ordinal)
    : device_(cuda::make_cuda_device(ordinal)),
      queue_(device_->make_queue()),
      beside_(device_->make_low_priority_queue()),
      forked_(device_->make_event()),
      joined_(device_->make_event()) {
  TY_CUDA(cudaGetDeviceProperties(&facts_, ordinal));
}

cudaStream_t Gpu::stream() const { return cuda::stream_of(*queue_); }
cudaStream_t Gpu::beside() const { return cuda::stream_of(*beside_); }

void Gpu::require_hopper() const {
  if (facts_.major >= 9) return;
  throw Error(ErrorKind::device, std::string(facts_.name) + " has compute capability " +
                                     std::to_string(facts_.major) + "." +
                                     std::to_string(facts_.minor) + "; this needs 9.0");
}

void Gpu::fork() {
  forked_->record(*queue_);
  forked_->wait_on(*beside_);
}

void Gpu::join() {
  joined_->record(*beside_);
  joined_->wait_on(*queue_);
}

Spread Gpu::time(const std::function<void()>& work) {
  constexpr int kUncounted = 2, kCounted = 7;
  std::vector<double> times;
  for (int i = 0; i < kUncounted + kCounted; ++i) {
    const double microseconds = microseconds_of(stream(), work);
    if (i >= kUncounted) times.push_back(microseconds);
  }
  return spread_of(times);
}

Spread Gpu::replays(const std::function<void()>& work) {
  work();  // a capture must not be what loads kernels
  queue_->wait();
  beside_->wait();
  const std::unique_ptr<Recording> recording = device_->record(*queue_, work);
  return time([&] { recording->replay(); });
}

Spread Gpu::copies(int count, const std::function<void(int)>& copy) {
  const Spread one = replays([&] { copy(0); });
  const Spread all = replays([&] {
    for (int i = 0; i < count; ++i) copy(i);
  });
  return share_above(all, one.median, count - 1);
}

}  // namespace trainyard::probe
