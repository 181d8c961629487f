// A run's state as checkpoints hold it, and back.
#pragma once

#include <cstdint>

#include "checkpoint/checkpoint_files.h"
#include "run/session/session.h"
#include "train/training_state.h"

namespace trainyard {

/// Files of a checkpoint: weights.safetensors (parameters and running statistics under their layer
/// paths), optimizer.safetensors (state blocks, "momentum.PATH"), data.safetensors (statistics of
/// the training split). The JSON state holds the counters. Waits for the model's queue.
[[nodiscard]] CheckpointContent snapshot(Session& session, const TrainingState& state);

/// The statistics of the training split that a checkpoint keeps.
[[nodiscard]] Statistics statistics_of(const LoadedCheckpoint& checkpoint);
/// The thread count that a checkpoint's run had (DECISIONS 2). Throws Error{checkpoint} if its
/// state holds none from 1 to 1024.
[[nodiscard]] int threads_of(const LoadedCheckpoint& checkpoint);

/// The samples of an update when a checkpoint was saved. Throws Error{checkpoint} if its state
/// holds none from 1.
[[nodiscard]] std::int64_t global_batch_of(const LoadedCheckpoint& checkpoint);

/// Puts weights, statistics, optimizer state and counters back. Throws Error{checkpoint} with every
/// tensor whose name, type or shape differs from the model's, or for counters that are no run's.
/// With another global batch than before the run keeps its place in the epoch, and the schedule its
/// epoch.
[[nodiscard]] TrainingState restore(Session& session, const LoadedCheckpoint& checkpoint);

}  // namespace trainyard
