// Where a run stands: with the model's blocks, everything that a resume needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace trainyard {

struct TrainingState {
  std::int64_t epoch = 0;          // finished epochs
  std::int64_t step_in_epoch = 0;  // finished updates of the epoch that is under way
  std::int64_t step = 0;           // finished updates, skipped ones too
  std::int64_t skipped_steps = 0;  // of the epoch, for a loss scale that was too large
  Totals totals;                   // of the epoch that is under way
  double gradient_norm_sum = 0;    // over its updates
  double rate = 0;                 // of the last update
  double best_value = 0;           // of the metric that is judged
  std::int64_t best_epoch = 0;     // 0: none yet
  std::int64_t epochs_since_best = 0;
  double elapsed_seconds = 0;  // of training, over all sessions of the run
};

}  // namespace trainyard
