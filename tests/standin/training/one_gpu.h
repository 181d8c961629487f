// A stand-in GPU as the device of a rank.
#pragma once

#include <memory>

#include "backend/cuda/update.h"
#include "comm/communicator.h"
#include "gpu_under_test.h"
#include "rank_training.h"

namespace trainyard::test {

class OneGpu : public RankDevice {
 public:
  explicit OneGpu(cuda::Overlap overlap = cuda::Overlap::allowed) : gpu_(overlap) {}
  [[nodiscard]] Compute compute() override {
    return {*gpu_.device, *gpu_.queue, *gpu_.executors, *launches_, copies_.get()};
  }
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  GpuUnderTest gpu_;
  std::unique_ptr<Queue> copies_ = gpu_.device->make_queue();
  std::unique_ptr<UpdateLaunches> launches_ =
      cuda::make_update_launches(cuda::stream_of(*gpu_.queue));
  std::unique_ptr<Communicator> ranks_ = make_single_communicator();
};

/// Whose kernels begin only after those before them have ended.
class OneGpuInTurn final : public OneGpu {
 public:
  OneGpuInTurn() : OneGpu(cuda::Overlap::none) {}
};

}  // namespace trainyard::test
