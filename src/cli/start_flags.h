// The flags that start a run, and those of the verbs that use a stored model with its ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_flags.h"
#include "cli/spawn.h"
#include "cli/verbs.h"
#include "inference/views.h"
#include "run/stored_model.h"
#include "run/training_run.h"

namespace trainyard::cli {

/// What a config is trained with, also by `train sweep` and `train find-lr`.
struct TrainedFlags {
  RunFlags run;
  std::string init;                    // --init
  std::vector<std::string> init_skip;  // --init-skip
  std::optional<std::int64_t> seed, epochs;
  double max_seconds = 0;  // --max-time; 0: no limit
};

struct StartFlags : TrainedFlags {
  std::string out, output, name;
};

/// Declares the flags of add_run_flags(), --seed, --epochs, --init and --init-skip.
void add_trained_flags(CLI::App& app, TrainedFlags& flags, const Context& context);
/// Declares --max-time, whose help begins with `text`.
void add_time_flag(CLI::App& app, double& seconds, const std::string& text);
/// Declares the flags of add_trained_flags(), --out and --name.
void add_start_flags(CLI::App& app, StartFlags& flags, const Context& context);
/// Declares --plot, also as --output (the name in the Keras multi-GPU guide).
void add_image_flag(CLI::App& app, StartFlags& flags);
/// The flags of the run with the short forms of --set added to its overrides. Throws
/// Error{command_line} for one that --set contradicts.
[[nodiscard]] RunFlags with_overrides(const TrainedFlags& flags);
[[nodiscard]] RunFlags with_overrides(const StartFlags& flags);
/// --init and --init-skip, without them those of the config's `init`.
[[nodiscard]] InitFlags init_flags(const TrainedFlags& flags, const RunConfig& run);
/// The weights that they name, if any. Throws as read_initial_weights().
[[nodiscard]] std::optional<InitialWeights> initial_weights(const TrainedFlags& flags,
                                                            const RunConfig& run);
/// The request without the config, the weights and the device.
[[nodiscard]] TrainingRequest request_of(const StartFlags& flags, const Context& context);

struct StoredFlags {
  RunFlags run;
  SpawnFlags spawn;
  std::string path;        // RUN|CHECKPOINT
  std::int64_t batch = 0;  // 0: the run's
};

/// Declares RUN|CHECKPOINT, --batch, the flags of the device and those of ranks.
void add_stored_flags(CLI::App& app, StoredFlags& flags, const Context& context);

/// Declares --tta; returns the option.
CLI::Option* add_tta(CLI::App& app, ViewSet& views);

/// A rank with the model.
struct StoredWork {
  StoredModel& stored;
  RankGroup& ranks;
  DeviceChoice device;
  Opening opening;
  [[nodiscard]] bool speaks() const { return ranks.rank() == 0; }
};

/// Opens the model and calls `work` on every rank. An error of any rank ends them all; `before` is
/// called once, before ranks are started.
int with_stored_model(
    const StoredFlags& flags, const Context& context, const std::function<void(StoredWork&)>& work,
    const std::function<void()>& before = [] {});

}  // namespace trainyard::cli
