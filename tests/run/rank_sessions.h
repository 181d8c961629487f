// Runs of several ranks, which are threads, each with a session and a trainer of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "ranks/rank_group.h"
#include "report/metrics.h"
#include "run/session/session.h"
#include "thread_ranks.h"
#include "train/trainer.h"

namespace trainyard::test {

/// A checkpoint as it would be read back from disk.
[[nodiscard]] LoadedCheckpoint reloaded(const CheckpointContent& content);

/// Runs work(its group) in one thread per rank, connected over TCP. Returns what each threw, by
/// rank.
testing::Outcomes run_groups(int ranks, const std::function<void(RankGroup&)>& work);

/// A run, or a part of it.
struct PartialRun {
  std::string yaml;
  std::vector<std::string> overrides;
  DeviceChoice::Kind device = DeviceChoice::Kind::cpu;
  int ranks = 1;
  const LoadedCheckpoint* from = nullptr;  // null: from the first step
  std::int64_t until = 0;                  // finished steps; 0: to the end
  TrainerOptions options;                  // epochs and names are the run's
  /// Called on every rank before each step.
  std::function<void(Session&, RankGroup&, const TrainingState&)> before_update =
      [](Session&, RankGroup&, const TrainingState&) {};
  /// Called on every rank after it, as TrainerHost::stop_reason; null: nothing stops a rank before
  /// `until`.
  std::function<std::optional<Outcome>(Session&, RankGroup&, const TrainingState&, bool edge)> stop;
};

/// The result on rank 0.
struct PartialRunEnd {
  testing::Outcomes outcomes;               // outcomes of all ranks
  std::optional<LoadedCheckpoint> reached;  // empty if a rank threw
  std::vector<double> losses;               // losses of the global batch, per step
};

[[nodiscard]] PartialRunEnd run_stretch(const PartialRun& stretch);

/// The largest difference between corresponding elements of the tensors of two checkpoints with the
/// same names and types, f32 or f64; infinite if those differ, or if an element is NaN.
[[nodiscard]] double largest_difference(const LoadedCheckpoint& a, const LoadedCheckpoint& b);

}  // namespace trainyard::test
