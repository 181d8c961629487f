// A stand-in GPU as the device of a rank.
#pragma once

#include <memory>

#include "backend/cuda/launches.h"
#include "gpu_under_test.h"
#include "rank_training.h"
#include "ranks/comm/communicator.h"

namespace trainyard::test {

class OneGpu : public RankDevice {
 public:
  explicit OneGpu(cuda::Overlap overlap = cuda::Overlap::allowed) : gpu_(overlap) {}
  [[nodiscard]] Compute compute() override {
    return {.device = *gpu_.device,
            .queue = *gpu_.queue,
            .executors = *gpu_.executors,
            .launches = *launches_,
            .copies = copies_.get(),
            .batches = batches_.get()};
  }
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  GpuUnderTest gpu_;
  std::unique_ptr<Queue> copies_ = gpu_.device->make_queue();
  std::unique_ptr<UpdateLaunches> launches_ =
      cuda::make_update_launches(cuda::stream_of(*gpu_.queue));
  std::unique_ptr<BatchLaunches> batches_ = cuda::make_batch_launches(cuda::stream_of(*gpu_.queue));
  std::unique_ptr<Communicator> ranks_ = make_single_communicator();
};

/// Whose kernels begin only after those before them have ended.
class OneGpuInTurn final : public OneGpu {
 public:
  OneGpuInTurn() : OneGpu(cuda::Overlap::none) {}
};

}  // namespace trainyard::test
