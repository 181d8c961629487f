#include "cli/start_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "base/error.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/version.h"
#include "ranks/spawn/spawn.h"

namespace trainyard::cli {
namespace {

StoredModel open_model(const StoredFlags& flags,
                       const std::function<void(const std::string&)>& warn) {
  StoredModel stored = open_stored_model(flags.path, overrides_of(flags.run), warn);
  if (flags.run.threads > 0) settle_threads(stored.config, flags.run.threads);
  return stored;
}

void work_on_rank(const StoredFlags& flags, const Context& own,
                  const std::function<void(StoredWork&)>& work) {
  Messages& messages = own.messages;
  const bool speaks = own.identity.rank == 0;
  const auto warn = [&messages](const std::string& text) { messages.warn(text); };
  const auto warn_once = [&](const std::string& text) {
    if (speaks) messages.warn(text);
  };
  StoredModel stored = open_model(flags, warn_once);
  RankGroup ranks(rank_group_options(own.identity, stored.config.limits, messages));
  DeviceChoice device = device_in_group(flags.run, flags.spawn, ranks);
  device.warn = warn;
  try {
    StoredWork rank{.stored = stored,
                    .ranks = ranks,
                    .device = std::move(device),
                    .opening = {.seed = static_cast<std::uint64_t>(stored.config.seed),
                                .cache_folder = cache_folder(),
                                .warn = warn,
                                .division = recorded_division(stored.run)}};
    work(rank);
    ranks.sign_off();
  } catch (const Error& error) {
    throw first_of_ranks(ranks, error);
  }
}

}  // namespace

void add_trained_flags(CLI::App& app, TrainedFlags& flags, const Context& context) {
  add_run_flags(app, flags.run, context);
  add_count(app, "--seed", flags.seed, "short for --set seed=N", 0);
  add_count(app, "--epochs", flags.epochs, "short for --set epochs=N", 1);
  CLI::Option* init =
      app.add_option("--init", flags.init,
                     "weights to start with, in place of 'init': .safetensors, checkpoint or run")
          ->transform(newest_run_of_name(context))
          ->type_name("PATH");
  app.add_option("--init-skip", flags.init_skip, "layers to leave new: patterns, repeatable")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(init)
      ->type_name("PATTERN");
}

void add_time_flag(CLI::App& app, double& seconds, const std::string& text) {
  app.add_option("--max-time", seconds, text + " after: 90s, 5m, 1h30m")
      ->transform(duration())
      ->default_str("")
      ->type_name("TIME");
}

void add_start_flags(CLI::App& app, StartFlags& flags, const Context& context) {
  add_trained_flags(app, flags, context);
  app.add_option("--out", flags.out, "run folder (default: runs/NAME/0001, 0002, ...)")
      ->type_name("FOLDER");
  app.add_option("--name", flags.name, "name of the run, instead of the config's")
      ->type_name("NAME");
}

void add_image_flag(CLI::App& app, StartFlags& flags) {
  add_output(app, "--plot,--output", flags.output, "write the curves too, .png or .svg");
}

RunFlags with_overrides(const TrainedFlags& flags) {
  RunFlags run = flags.run;
  if (flags.seed) add_short_form(run.overrides, "seed", std::to_string(*flags.seed));
  if (flags.epochs) add_short_form(run.overrides, "epochs", std::to_string(*flags.epochs));
  return run;
}

RunFlags with_overrides(const StartFlags& flags) {
  RunFlags run = with_overrides(static_cast<const TrainedFlags&>(flags));
  if (!flags.name.empty()) add_short_form(run.overrides, "name", flags.name);
  return run;
}

namespace {

/// All changes of the flags to a run file.
std::vector<std::string> all_overrides(const StartFlags& flags) {
  std::vector<std::string> all = overrides_of(with_overrides(flags));
  if (flags.run.threads > 0) all.push_back("threads=" + std::to_string(flags.run.threads));
  return all;
}

}  // namespace

InitFlags init_flags(const TrainedFlags& flags, const RunConfig& run) {
  if (!flags.init.empty() || !run.init) return {.from = flags.init, .skip = flags.init_skip};
  return {.from = run.init->from.path, .skip = run.init->skip};
}

std::optional<InitialWeights> initial_weights(const TrainedFlags& flags, const RunConfig& run) {
  const InitFlags init = init_flags(flags, run);
  if (init.from.empty()) return std::nullopt;
  return read_initial_weights(init);
}

TrainingRequest request_of(const StartFlags& flags, const Context& context) {
  return {.command = context.command,
          .overrides = all_overrides(flags),
          .version = version_text(),
          .id = random_token(),
          .out = flags.out,
          .output = flags.output,
          .gnuplot = gnuplot_program()};
}

void add_stored_flags(CLI::App& app, StoredFlags& flags, const Context& context) {
  add_run(app, "run", flags.path,
          "run folder (its best weights), runs/NAME (its newest run), or "
          "a checkpoint: folder, checkpoints/last, .safetensors",
          context)
      ->required()
      ->type_name("RUN|CHECKPOINT");
  add_count(app, "--batch", flags.batch, "batch size over all ranks (default: the run's)", 1,
            1'000'000)
      ->default_str("");
  add_device_flags(app, flags.run);
  add_host_flags(app, flags.spawn);
}

CLI::Option* add_tta(CLI::App& app, ViewSet& views) {
  auto* const option = app.add_option_function<std::string>(
      "--tta",
      [&views](const std::string& word) {
        views = word == config::word_of(ViewSet::flip) ? ViewSet::flip : ViewSet::shifts;
      },
      "mean over views: flip, with the mirror image; shifts, six");
  take_one_of(option, {"flip", "shifts"});
  return option;
}

int with_stored_model(const StoredFlags& flags, const Context& context,
                      const std::function<void(StoredWork&)>& work,
                      const std::function<void()>& before) {
  const SpawnSteps plan{.check = [&] {
    static_cast<void>(open_model(flags, [](const std::string&) {}));
    before();
  }};
  return in_ranks(flags.run, flags.spawn, context, plan, [&](const Context& own) {
    work_on_rank(flags, own, work);
    return 0;
  });
}

}  // namespace trainyard::cli
