// State of a run: together with the model's blocks, everything that a resume needs.
#pragma once

#include <cstdint>

#include "model/model.h"
#include "optim/schedule.h"

namespace trainyard {

struct TrainingState {
  std::int64_t epoch = 0;          // finished epochs
  std::int64_t step_in_epoch = 0;  // finished steps of the current epoch
  std::int64_t step = 0;           // finished steps, including skipped ones
  std::int64_t skipped_steps = 0;  // in the epoch, see StepResult::skipped
  Totals totals;                   // totals of the current epoch
  double gradient_norm_sum = 0;    // over its steps
  double rate = 0;                 // rate of the last step
  double best_value = 0;           // best value of the best metric
  std::int64_t best_epoch = 0;     // 0: none yet
  std::int64_t epochs_since_best = 0;
  PlateauState plateau;
  double elapsed_seconds = 0;  // time of training, over all sessions of the run
};

}  // namespace trainyard
