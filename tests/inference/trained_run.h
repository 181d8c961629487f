// A run on the disk, for the tests of what is done with its weights.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "run/training_run.h"
#include "run_text.h"

namespace trainyard::test {

/// Trains the run of `yaml` into `folder`, as `train --out` does.
inline void train_into_folder(const std::string& yaml, const std::filesystem::path& folder,
                              const std::string& id = "an id") {
  RankGroup alone({});
  const Disk disk;
  const SystemClock clock;
  const StopSignals signals;
  static_cast<void>(run_training({.config = read_run(yaml),
                                  .original_yaml = yaml,
                                  .command = "train it",
                                  .id = id,
                                  .out = folder},
                                 disk, clock, signals, alone));
}

}  // namespace trainyard::test
