// A GPU that counts: everything that a model needs of a GPU, without one.
#pragma once

#include <memory>
#include <vector>

#include "counted/counted_device.h"
#include "counted/counted_executors.h"
#include "counted/launch_log.h"
#include "model/compute.h"

namespace trainyard::counted {

/// The launches of the update and of batches, on the counting launcher. The log must outlive them.
[[nodiscard]] std::unique_ptr<UpdateLaunches> make_counted_updates(LaunchLog& log);
[[nodiscard]] std::unique_ptr<BatchLaunches> make_counted_batches(LaunchLog& log);

class Gpu {
 public:
  [[nodiscard]] Compute compute() {
    return {*device_, *queue_, *executors_, *launches_, copies_.get(), nullptr, batches_.get()};
  }
  /// The nodes of the work that was recorded last, in order.
  [[nodiscard]] const std::vector<Launch>& recorded() const { return recorded_; }

 private:
  LaunchLog log_;
  LastRecording recorded_;
  std::unique_ptr<Device> device_ = make_counted_device(log_, recorded_);
  std::unique_ptr<Queue> queue_ = device_->make_queue();
  std::unique_ptr<Queue> copies_ = device_->make_queue();
  std::unique_ptr<ExecutorFactory> executors_ = make_counted_executors(log_, *device_, *queue_);
  std::unique_ptr<UpdateLaunches> launches_ = make_counted_updates(log_);
  std::unique_ptr<BatchLaunches> batches_ = make_counted_batches(log_);
};

}  // namespace trainyard::counted
