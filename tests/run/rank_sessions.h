// Runs of several ranks, which are threads, each with a session and a trainer of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "report/metrics.h"
#include "run/session/session.h"
#include "thread_ranks.h"
#include "train/rank_group.h"
#include "train/trainer.h"

namespace trainyard::test {

/// What the disk would give back of a checkpoint.
[[nodiscard]] LoadedCheckpoint reloaded(const CheckpointContent& content);

/// Runs work(its group) in a thread a rank, which meet over TCP. What each threw, by rank.
testing::Outcomes run_groups(int ranks, const std::function<void(RankGroup&)>& work);

/// A run, or a part of it.
struct Stretch {
  std::string yaml;
  std::vector<std::string> overrides;
  DeviceChoice::Kind device = DeviceChoice::Kind::cpu;
  int ranks = 1;
  const LoadedCheckpoint* from = nullptr;  // null: from the first step
  std::int64_t until = 0;                  // finished updates; 0: to the end
  TrainerOptions options;                  // epochs and names are the run's
  /// Called on every rank before each update.
  std::function<void(Session&, RankGroup&, const TrainingState&)> before_update =
      [](Session&, RankGroup&, const TrainingState&) {};
};

/// What rank 0 is left with.
struct StretchEnd {
  testing::Outcomes outcomes;               // of all ranks
  std::optional<LoadedCheckpoint> reached;  // empty if a rank threw
  std::vector<double> losses;               // of the global batch, an update
};

[[nodiscard]] StretchEnd run_stretch(const Stretch& stretch);

/// The largest difference of any two elements of the tensors of two checkpoints, which have the
/// same names and types, f32 or f64; infinite if they have not, or if an element is no number.
[[nodiscard]] double largest_difference(const LoadedCheckpoint& a, const LoadedCheckpoint& b);

}  // namespace trainyard::test
