// The executors of batch norm (bn_rows.h) and of pooling (pool_rows.h) from their functors, for any
// launcher.
#pragma once

#include <memory>

#include "compute/executor.h"
#include "compute/norm/bn_rows.h"
#include "compute/pool/pool_rows.h"
#include "compute/pool/power.h"
#include "compute/table.h"

namespace trainyard {

/// On the CPU's launchers: the executor of bn or of a pooling op, in any float type; null for other
/// ops. The CPU itself uses it for batch norm over features and channels last; else it is for tests
/// of the functors.
[[nodiscard]] ExecutorPtr make_channel_executor(const StepDescription& step);

/// The executor on `launcher`, stored in T; null for ops that are neither bn nor a pooling.
template <class T, class Launcher>
ExecutorPtr make_channels_as(const StepDescription& step, const Launcher& launcher) {
  switch (computation_of(step.op->type())) {
    case Computation::pooling:
      if (op_as<PoolOp>(step).values().kind == PoolAttributes::Kind::power) {
        return std::make_unique<PowerPool<T, Launcher>>(step, launcher);
      }
      return std::make_unique<PoolRows<T, Launcher>>(step, launcher);
    case Computation::batch_norm:
      break;
    default:
      return nullptr;
  }
  if (step.pass == Pass::backward_data) {
    return std::make_unique<BnRowsBackward<T, Launcher>>(step, launcher);
  }
  return std::make_unique<BnRowsForward<T, Launcher>>(step, launcher);
}

}  // namespace trainyard
