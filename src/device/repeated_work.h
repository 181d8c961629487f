// Work that a device repeats.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "device/device.h"

namespace trainyard {

/// Enqueues the same work each time: directly the first time, when libraries load what they need,
/// and as a recording from then on. See Device::record for the constraints on `work`.
class RepeatedWork {
 public:
  RepeatedWork(Device& device, Queue& queue, std::function<void()> work)
      : device_(device), queue_(queue), work_(std::move(work)) {}

  void run() {
    if (!begun_) {
      begun_ = true;
      return work_();
    }
    if (recording_ == nullptr) recording_ = device_.record(queue_, work_);
    recording_->replay();
  }
  /// Recording::nodes(); 0 before the second run.
  [[nodiscard]] std::size_t nodes() const { return recording_ ? recording_->nodes() : 0; }

 private:
  Device& device_;
  Queue& queue_;
  std::function<void()> work_;
  bool begun_ = false;
  std::unique_ptr<Recording> recording_;
};

}  // namespace trainyard
