#include "run/resume_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint_files.h"
#include "report/epoch_line.h"
#include "report/status.h"
#include "run/config/resolved_config.h"
#include "run/resumed_run.h"

namespace trainyard {
namespace {

/// Refuses to extend a run that ended within an epoch: the rest of that epoch would never be
/// trained.
void require_end_of_epoch(const fs::path& folder, const RunStatus& status, std::int64_t per_epoch) {
  const RunConfig before = read_run_config(folder / "config.yaml", {});
  const std::int64_t steps = before.length.all_steps(per_epoch);
  if (status.at.step < steps || steps % per_epoch == 0) return;
  refuse_command(fmt::format(
      "the run {} is complete and ended within epoch {}, so it cannot be extended; start a new run "
      "with its weights: train --config {} --init {}",
      folder.string(), status.at.epoch, shell_quoted((folder / "config.yaml").string()),
      shell_quoted(folder.string())));
}

}  // namespace

std::optional<std::string> completion_text(const fs::path& folder, const RunConfig& wanted) {
  const auto status = read_status(folder / "status.json");
  if (!status || status->state != RunState::completed) return std::nullopt;
  const std::int64_t per_epoch = std::max<std::int64_t>(1, status->steps_per_epoch);
  const std::int64_t steps = wanted.length.all_steps(per_epoch);
  const std::int64_t epochs = wanted.length.all_epochs(per_epoch);
  if (status->at.step < steps) require_end_of_epoch(folder, *status, per_epoch);
  const std::string counts =
      std::to_string(status->at.epoch) + " of " + count_text(epochs, "epoch");
  const std::string command = resume_command(folder.string());
  const bool in_steps = wanted.length.steps.has_value();
  if (status->at.epoch >= epochs) {
    return "the run " + folder.string() + " is complete: " + counts +
           " trained, nothing was changed" +
           (wanted.checkpoint && steps % per_epoch == 0
                ? fmt::format("; to add {0}: {1} --set {0}=N, with N above {2}",
                              in_steps ? "steps" : "epochs", command,
                              in_steps ? status->at.step : status->at.epoch)
                : "");
  }
  const RunConfig before = read_run_config(folder / "config.yaml", {});
  if (!config_differences(before, wanted).empty()) return std::nullopt;
  return "the run " + folder.string() + " is complete: it stopped early after " + counts +
         ", nothing was changed; to train further: " + command + " --set early_stop.patience=N";
}

void require_optimizer_of_run(const RunConfig& wanted, const fs::path& folder) {
  if (checkpoint_pointer(folder / "checkpoints", "last").empty()) return;
  const RunConfig before = read_run_config(folder / "config.yaml", {});
  const auto names = [](const RunConfig& run) {
    std::vector<std::string> slots;
    for (const OptimizerSlot& slot : run.optimizer->slots) slots.emplace_back(slot.name);
    return slots;
  };
  if (names(before) == names(wanted)) return;
  const std::string old(before.optimizer->name), now(wanted.optimizer->name);
  refuse_command("the run of " + folder.string() + " has trained with " + old + ", whose state " +
                 now + " cannot continue; start a new run with its weights: " + "train --config " +
                 shell_quoted((folder / "config.yaml").string()) + " --set optimizer." + now +
                 ".lr=RATE --init " + shell_quoted(folder.string()));
}

void require_config_of_run(RunConfig given, const std::string& name, const RunConfig& run,
                           const fs::path& folder) {
  if (given.threads == 0) settle_threads(given, run.threads);
  if (!given.precision && run.precision) settle_precision(given, *run.precision);
  const auto found = typed_differences(run, given);
  if (found.empty()) return;
  constexpr std::size_t kShown = 10;
  std::string message = "--resume: " + name + " is not the config of " + folder.string() +
                        ", which differs (the run's -> the file's):";
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    message += "\n  " + text_of(found[i]);
  }
  if (found.size() > kShown)
    message += "\n  and " + std::to_string(found.size() - kShown) + " more";
  refuse_command(message + "\nto continue with the run's own config: " +
                 resume_command(folder.string()) + " (--set changes a key of it)");
}

std::optional<fs::path> done_run(const fs::path& root, const WantedRun& wanted,
                                 const DataCheck& check, const Opening& opening) {
  std::map<Division, DataFacts> known;  // the data as they are now
  std::vector<std::string> changes;     // changes by the newest
  fs::path changed;
  for (const fs::path& folder : completed_runs(root, wanted.config.name, wanted.hash)) {
    if (!trained_with(folder, wanted.global_batch)) continue;
    Opening own = opening;
    own.division = recorded_division(folder);
    auto now = known.find(own.division);
    if (now == known.end()) now = known.emplace(own.division, open_facts(wanted.config, own)).first;
    std::vector<std::string> found =
        data_changes(recorded_facts(folder), now->second, check.all_files);
    if (found.empty()) return folder;
    if (changes.empty()) {
      changes = std::move(found);
      changed = folder;
    }
  }
  judge_changes(changes, changed.string() + ", which has completed with this config",
                "start a new run on them as they are now with --changed-data", check, opening.warn);
  return std::nullopt;
}

}  // namespace trainyard
