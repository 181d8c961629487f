#include "cli/start_flags.h"

#include <CLI/CLI.hpp>

#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/version.h"
#include "ranks/spawn/spawn.h"

namespace trainyard::cli {
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

std::optional<InitialWeights> initial_weights(const TrainedFlags& flags) {
  if (flags.init.empty()) return std::nullopt;
  return read_initial_weights({.from = flags.init, .skip = flags.init_skip});
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

}  // namespace trainyard::cli
