// A stand-in GPU as the device of a rank.
#pragma once

#include <memory>

#include "backend/cuda/update.h"
#include "comm/communicator.h"
#include "gpu_under_test.h"
#include "rank_training.h"

namespace trainyard::test {

class OneGpu final : public RankDevice {
 public:
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

}  // namespace trainyard::test
