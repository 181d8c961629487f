// A run's state to and from checkpoints.
#pragma once

#include <cstdint>

#include "checkpoint/checkpoint_files.h"
#include "run/session/session.h"
#include "train/training_state.h"

namespace trainyard {

/// Files of a checkpoint: weights.safetensors (parameters and running statistics under their layer
/// paths: the copy that is judged), with `average` the other copy as trained.safetensors or
/// average.safetensors, optimizer.safetensors (state blocks, "momentum.PATH"). The JSON state holds
/// the counters and the hash of the training split's statistics. Waits for the model's queue.
[[nodiscard]] CheckpointContent snapshot(Session& session, const TrainingState& state);

/// The hash of the statistics of a checkpoint's run, which are in the run folder
/// (run/statistics_file.h); "" if it has none. Throws Error{checkpoint}.
[[nodiscard]] std::string statistics_hash_of(const LoadedCheckpoint& checkpoint);

/// The samples per step when a checkpoint was saved. Throws Error{checkpoint} if its state has none
/// of at least 1.
[[nodiscard]] std::int64_t global_batch_of(const LoadedCheckpoint& checkpoint);

/// Restores weights, statistics, optimizer state and counters. Throws Error{checkpoint} with every
/// tensor whose name, type or shape differs from the model's, or for counters that no run can have.
/// With a different global batch the run keeps its position in the epoch, and the schedule its
/// epoch.
[[nodiscard]] TrainingState restore(Session& session, const LoadedCheckpoint& checkpoint);

}  // namespace trainyard
