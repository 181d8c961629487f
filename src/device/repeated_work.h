// Work that a device repeats.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace trainyard {

/// Enqueues the same work each time: directly the first time, when libraries load what they need,
/// and as a recording from then on. See Device::record for the constraints on `work`.
class RepeatedWork {
 public:
  RepeatedWork(Device& device, Queue& queue, std::function<void()> work)
      : device_(device), queue_(queue), work_(std::move(work)) {}

  /// Work that is the same but for addresses has a recording for each variant, made when it is
  /// first needed.
  void run(std::size_t variant = 0) {
    if (!begun_) {
      begun_ = true;
      return work_();
    }
    if (variant >= recordings_.size()) recordings_.resize(variant + 1);
    if (recordings_[variant] == nullptr) recordings_[variant] = device_.record(queue_, work_);
    recordings_[variant]->replay();
  }
  /// Recording::nodes(), of every variant alike; 0 before the second run.
  [[nodiscard]] std::size_t nodes() const {
    for (const auto& recording : recordings_) {
      if (recording != nullptr) return recording->nodes();
    }
    return 0;
  }

 private:
  Device& device_;
  Queue& queue_;
  std::function<void()> work_;
  bool begun_ = false;
  std::vector<std::unique_ptr<Recording>> recordings_;
};

}  // namespace trainyard
