// What a model computes with.
#pragma once

#include "device/device.h"
#include "exec/executor.h"
#include "optim/update_launches.h"

namespace trainyard {

/// A device, the queue that all of a model's work is put on, and what puts it there. All outlive
/// the model.
struct Compute {
  Device& device;
  Queue& queue;
  const ExecutorFactory& executors;
  const UpdateLaunches& launches;
  Queue* copies = nullptr;  // batches come over this one; null: `queue` works at once
  // Gradients are summed over ranks on this one while the backward pass goes on; null: after it.
  Queue* sums = nullptr;
};

}  // namespace trainyard
