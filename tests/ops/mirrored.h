// Executors of a device whose memory the processor cannot read, for tests whose tensors are in host
// memory: every run copies all tensors to the device, runs there, and copies them back, so that
// guards and values are checked as on any other device.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "devices.h"

namespace trainyard::op_tests {

/// Device, queue and the device's own executors must outlive these.
class MirroredExecutors final : public OpExecutors {
 public:
  MirroredExecutors(Device& device, Queue& queue, const ExecutorFactory& executors)
      : device_(device), queue_(queue), executors_(executors) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override;
  [[nodiscard]] std::string libraries() const override { return executors_.libraries(); }

 private:
  Device& device_;
  Queue& queue_;
  const ExecutorFactory& executors_;
};

}  // namespace trainyard::op_tests
