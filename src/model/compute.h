// The device, queues and executors of a model.
#pragma once

#include "compute/executor.h"
#include "data/feed/batch_launches.h"
#include "device/device.h"
#include "optim/update_launches.h"

namespace trainyard {

/// A device, the queue of all of a model's work, and what enqueues it. All outlive the model.
struct Compute {
  Device& device;
  Queue& queue;
  const ExecutorFactory& executors;
  const UpdateLaunches& launches;
  Queue* copies = nullptr;  // batches are uploaded on this one; null: `queue` works synchronously
  // All-reduces of gradients on this one overlap the backward pass; null: they follow it. Its
  // priority is high: else their kernels would wait behind all blocks of the backward pass.
  Queue* sums = nullptr;
  // Bring batches to where a program reads them, on targets that merge launches; null: the queue
  // and the executors do.
  const BatchLaunches* batches = nullptr;
};

}  // namespace trainyard
