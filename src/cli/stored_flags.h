// The flags of the verbs that use a stored model, and the ranks that do their work.
#pragma once

#include <functional>
#include <string>

#include "cli/run_flags.h"
#include "cli/spawn.h"
#include "cli/verbs.h"
#include "inference/views.h"
#include "run/stored_model.h"

namespace trainyard::cli {

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
