// A GPU that counts: everything that a model needs of a GPU, without one.
//
// The folder counted holds its device, executors and launches, which enqueue what a GPU's do, as
// entries of a log, and compute nothing: it hands out addresses, but allocates nothing.
// `train summary --plan --target cuda` and `train bench` on a GPU run a step on it, and predict a
// time (bench/counted_step.h). A stand-in's captured steps have the same nodes.
#pragma once

#include <memory>
#include <vector>

#include "compute/executor.h"
#include "compute/matmul/matrix_products.h"
#include "counted/launch_log.h"
#include "device/device.h"
#include "model/compute.h"

namespace trainyard::counted {

/// Where a device keeps what was recorded last.
using LastRecording = std::vector<Launch>;

/// Records as a GPU does: what is recorded is not run, and a replay adds nothing to the log. Copies
/// to the host give zeros. Log and recording must outlive it.
[[nodiscard]] std::unique_ptr<Device> make_counted_device(LaunchLog& log, LastRecording& last);

/// For a GPU's plan (cuda_target()), as devices/cuda makes them. An engine is one node; none adds a
/// convolution's bias, and all add to a gradient where the step does. Log, device and queue, those
/// of the same GPU, must outlive them.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_counted_executors(LaunchLog& log,
                                                                      Device& device, Queue& queue);

// The parts of the factory. Parts for functors and channels are null for other ops.
[[nodiscard]] ExecutorPtr make_counted_functor(LaunchLog& log, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_counted_channels(LaunchLog& log, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_counted_recurrent(LaunchLog& log, const StepDescription& step);
/// The executor of a step with StepForm::sums_layer_bias().
[[nodiscard]] ExecutorPtr make_counted_relu_bias(LaunchLog& log, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_counted_conv(LaunchLog& log, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_counted_dense(LaunchLog& log, const StepDescription& step);

/// A product of an optimizer, or a batch of them: one launch.
[[nodiscard]] std::unique_ptr<MatrixProduct> make_counted_product(LaunchLog& log,
                                                                  const ProductShape& shape);

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
