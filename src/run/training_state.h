// Where a run stands: with the model's blocks, everything that a resume needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/model.h"

namespace trainyard {

struct TrainingState {
  std::int64_t epoch = 0;          // finished epochs
  std::int64_t step_in_epoch = 0;  // finished updates of the epoch that is under way
  std::int64_t step = 0;           // finished updates
  Totals totals;                   // of the epoch that is under way
  double gradient_norm_sum = 0;    // over its updates
  double rate = 0;                 // of the last update
  double best_value = 0;           // of the metric that is judged
  std::int64_t best_epoch = 0;     // 0: none yet
  std::int64_t epochs_since_best = 0;
  double elapsed_seconds = 0;  // of training, over all sessions of the run
};

/// One finished epoch, as the sinks see it. Losses and metrics are means over samples.
struct EpochResult {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::int64_t samples = 0;  // true samples trained on since the start of the run
  double loss = 0;
  std::vector<double> metrics;
  double val_loss = 0;
  std::vector<double> val_metrics;
  double rate = 0;
  double gradient_norm = 0;  // mean over the epoch's updates, before clipping
  double regularisation_loss = 0;
  bool is_best = false;
  double elapsed_seconds = 0;
  double epoch_seconds = 0;
  double images_per_second = 0;
};

/// One finished update.
struct StepResult {
  std::int64_t step = 0;
  std::int64_t epoch = 0;          // that is under way, from 1
  std::int64_t step_in_epoch = 0;  // from 1
  double loss = 0;
  std::vector<double> metrics;
  double rate = 0;
  double gradient_norm = 0;
  double elapsed_seconds = 0;
  double images_per_second = 0;
};

/// Watches a run. The trainer knows nothing else of consoles and files.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(const StepResult& result) = 0;
  virtual void on_epoch(const EpochResult& result) = 0;
};

}  // namespace trainyard
