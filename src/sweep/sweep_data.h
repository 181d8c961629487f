// Whether the runs of a sweep still have the data that they began with.
#pragma once

#include <map>
#include <string>

#include "run/data_changes.h"
#include "sweep/sweep_run.h"

namespace trainyard {

/// Runs with the same `data` and seed are compared with data that are opened once.
class SweepData {
 public:
  SweepData(Opening opening, const DataCheck& check);
  /// Compares a run that has begun, or ended, as judge_changes().
  void compare(const SweepRun& run, const RunConfig& config);

 private:
  Opening opening_;
  DataCheck check_;
  std::map<std::string, DataFacts> known_;  // by seed and `data`
};

}  // namespace trainyard
