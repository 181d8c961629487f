#include "run/best_checkpoint.h"

#include "base/error.h"
#include "checkpoint/checkpoint_files.h"

namespace trainyard {
namespace {

struct JudgedState {
  std::int64_t step_in_epoch = 0, best_epoch = 0;
};

/// Empty for a checkpoint that is damaged, or whose state is of no run.
std::optional<JudgedState> judged_state(const std::filesystem::path& folder,
                                        const CheckpointEntry& entry) {
  try {
    const LoadedCheckpoint loaded = load_checkpoint_state(folder / entry.file_name);
    if (loaded.epoch != entry.epoch || loaded.step != entry.step) return std::nullopt;
    return JudgedState{.step_in_epoch = loaded.state.at("step_in_epoch"),
                       .best_epoch = loaded.state.at("best_epoch")};
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::checkpoint) throw;
    return std::nullopt;
  }
}

}  // namespace

std::optional<CheckpointEntry> checkpoint_after_epoch(const std::filesystem::path& folder,
                                                      std::int64_t epoch) {
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    if (entry.epoch != epoch) continue;
    const std::optional<JudgedState> state = judged_state(folder, entry);
    if (state && state->step_in_epoch == 0) return entry;
  }
  return std::nullopt;
}

std::optional<BestCheckpoint> best_checkpoint(const std::filesystem::path& folder) {
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    const std::optional<JudgedState> state = judged_state(folder, entry);
    if (!state) continue;
    if (state->best_epoch == 0) return BestCheckpoint{};
    return BestCheckpoint{.epoch = state->best_epoch,
                          .checkpoint = checkpoint_after_epoch(folder, state->best_epoch)};
  }
  return std::nullopt;
}

}  // namespace trainyard
