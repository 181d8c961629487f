// The sums over ranks that stand between the backward passes and the update.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/communicator.h"
#include "run/compute.h"

namespace trainyard {

/// What an update sums over ranks: memory of the device, the same in every update.
struct RankBlocks {
  DType type = DType::f32;      // of the gradients, f32 or f64
  void* gradients = nullptr;    // [parameters + statistics]
  std::int64_t parameters = 0;  // their gradients,
  std::int64_t statistics = 0;  // and the statistics of the batch behind them
  double* results = nullptr;    // [result_count]: loss and metrics
  std::int64_t result_count = 0;
};

/// Sums gradients, batch statistics and results over ranks, so that all have the same bits.
class RankSum {
 public:
  /// Gradients cross as `transport`: f16 and bf16 round those of f32, a rank's own and the sum;
  /// f32 leaves them as they are. One rank sums and rounds nothing. Communicator and blocks outlive
  /// it. Throws Error{memory}.
  RankSum(const Compute& compute, Communicator& communicator, const RankBlocks& blocks,
          DType transport);

  /// Puts on the sums.
  void run();

 private:
  void sum_gradients();
  [[nodiscard]] bool narrows() const { return narrow_ != nullptr; }

  Compute compute_;
  Communicator& communicator_;
  RankBlocks blocks_;
  DType transport_;
  std::unique_ptr<DeviceBuffer> narrow_;  // [parameters] of the transport; null: as they are
};

}  // namespace trainyard
