// `train train` and `train resume`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "analysis/run_curves.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/console.h"
#include "cli/draw.h"
#include "cli/environment.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/spawn.h"
#include "cli/start_flags.h"
#include "cli/verbs.h"
#include "config/file_path.h"
#include "ranks/spawn/rank_output.h"
#include "report/plotter.h"
#include "run/config/batch_numbers.h"
#include "run/config/resolved_config.h"
#include "run/config_changes.h"
#include "run/resume_checks.h"
#include "run/run_folder.h"
#include "run/training_run.h"

namespace trainyard::cli {
namespace {

struct TrainFlags : StartFlags {
  SpawnFlags spawn;
  std::string log = "keras";
  std::string resume_folder;  // folder of `train resume`
  bool resume = false, skip_done = false, eager = false, quiet = false;
  DataCheck check;
};

void add_output_flags(CLI::App& app, TrainFlags& flags) {
  add_image_flag(app, flags);
  add_time_flag(app, flags.max_seconds, "save and stop (exit 75)");
  take_one_of(app.add_option("--log", flags.log, "form of what is printed"),
              {"keras", "json", "plain"});
  app.add_flag("-q,--quiet", flags.quiet, "print only errors and warnings");
  app.add_flag("--eager", flags.eager, "check every tensor of every step for NaN and Inf");
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string word = lower_case(variable(name));
    if (word.empty()) continue;
    return word.find("utf-8") != std::string::npos || word.find("utf8") != std::string::npos;
  }
  return false;
}

ConsoleOptions console_options(const TrainFlags& flags) {
  const bool dumb = variable("TERM") == "dumb";
  return {.style = log_style_of(flags.log).value_or(LogStyle::keras),
          .quiet = flags.quiet,
          .terminal = isatty(STDERR_FILENO) == 1 && !dumb,
          .utf8 = locale_is_utf8(),
          .bar_columns = [] { return terminal_columns(STDERR_FILENO, std::getenv("COLUMNS")); }};
}

/// Prints how the run ended, if this rank `speaks`, and returns the exit code.
int report(const RunEnd& end, const TrainFlags& flags, bool speaks, Messages& messages) {
  const LogStyle style = log_style_of(flags.log).value_or(LogStyle::keras);
  const std::string line = end_line(style, end);
  if (end.outcome == Outcome::completed || end.outcome == Outcome::stopped_early) {
    if (speaks && !flags.quiet) print(line + "\n", style == LogStyle::json);
    return 0;
  }
  if (speaks && style == LogStyle::json) print_data(line + "\n");
  if (speaks) messages.note(end_line(LogStyle::keras, end));
  std::fflush(stdout);
  constexpr int kStoppedByOwnLimit = 75;  // EX_TEMPFAIL
  if (end.outcome == Outcome::out_of_time) return kStoppedByOwnLimit;
  end_by_signal(end.signal);
}

/// On a disk that is not shared, the rank keeps the launcher's streams.
void log_to(const fs::path& path) {
  if (!fs::is_directory(path.parent_path())) return;
  std::fflush(stdout);
  move_output(path);
}

int train_with(TrainingRequest request, const TrainFlags& flags, const Context& own) {
  Messages& messages = own.messages;
  if (own.identity.rank == 0) request.output = kept_output("--plot", request.output.string());
  const auto warn = [&messages](const std::string& text) { messages.warn(text); };
  if (!request.resume.empty()) messages.set_run(request.resume.string());
  RankGroup ranks(rank_group_options(own.identity, request.config.limits, messages));
  request.device = device_in_group(flags.run, flags.spawn, ranks);
  request.device.warn = warn;
  const Disk disk;
  const SystemClock clock;
  const StopSignals signals;
  const ConsoleOptions options = console_options(flags);
  request.console = [&](const Banner& banner, std::int64_t epochs) {
    messages.set_run(banner.run);
    return make_console(options, clock, messages, banner, epochs);
  };
  request.warn = warn;
  request.log_to = log_to;
  request.environment = own_environment();
  const RunEnd end = run_training(std::move(request), disk, clock, signals, ranks);
  return report(end, flags, own.identity.rank == 0, messages);
}

TrainingRequest training_request(const TrainFlags& flags, const Context& context) {
  TrainingRequest request = request_of(flags, context);
  request.max_seconds = flags.max_seconds;
  request.eager = flags.eager;
  request.check = flags.check;
  return request;
}

/// The folder of --resume: --out, else the newest unfinished run of this config.
fs::path folder_to_resume(const TrainFlags& flags, const std::string& name) {
  if (!flags.out.empty()) return flags.out;
  const auto newest = newest_unfinished_run("runs", name);
  if (!newest) {
    refuse_command("--resume: runs/" + name +
                   " has no unfinished run; leave out --resume to start one");
  }
  return *newest;
}

RunConfig config_of_run(const fs::path& folder, const RunFlags& flags) {
  if (!is_run_folder(folder)) {
    refuse_command("'" + folder.string() + "' is not a run folder: it has no config.yaml of a run" +
                   (fs::exists(folder) ? "" : config::near_file(folder)));
  }
  return read_config_of_run(folder, overrides_of(flags));
}

/// The config of the run in `folder`, whose data are where `given` says, should they have moved.
RunConfig at_places_of(const RunConfig& given, RunConfig config, const fs::path& folder,
                       RunFlags flags) {
  const std::vector<std::string> moved = moved_paths(config, given);
  if (moved.empty()) return config;
  flags.overrides.insert(flags.overrides.end(), moved.begin(), moved.end());
  config = config_of_run(folder, flags);
  take_typed_paths(config, given);
  return config;
}

/// Draws a run that trains no further to --plot: the image that it has drawn itself, else that of
/// `train plot`.
void draw_curves(const fs::path& folder, const TrainFlags& flags) {
  const fs::path output = place_for("--plot", flags.output);
  check_plot_output(output, program_in_path("gnuplot").has_value());
  const fs::path drawn = folder / "plots" / ("curves" + lower_case(output.extension().string()));
  if (!fs::is_regular_file(drawn)) {
    return draw_output(run_curves({{read_recorded_run(folder, SystemClock())}}, {}), output);
  }
  constexpr std::uint64_t kMostBytes = 64u << 20;
  const std::vector<std::byte> bytes = read_bytes(drawn, ErrorKind::disk, kMostBytes);
  Disk().write_output(output, std::array<std::span<const std::byte>, 1>{bytes});
}

/// True, and reported by rank 0, if the run has nothing left to train.
bool is_complete(const fs::path& folder, const RunConfig& config, const TrainFlags& flags,
                 const Context& context) {
  const auto text = completion_text(folder, config);
  if (!text) return false;
  if (context.identity.rank != 0) return true;
  if (!flags.quiet) {
    context.messages.say(*text,
                         {{"event", "complete"}, {"run", folder.string()}, {"message", *text}});
  }
  if (!flags.output.empty()) draw_curves(folder, flags);
  return true;
}

/// The run of --skip-done that need not be repeated.
std::optional<fs::path> run_to_skip(const TrainFlags& flags, const RunConfig& config,
                                    const TrainingRequest& request, const Context& context) {
  const WantedRun wanted{
      .config = config,
      .hash = config_hash(typed_yaml(config), request.init ? request.init->hash : ""),
      .global_batch = global_batch(config, context.identity.ranks)};
  return done_run("runs", wanted, flags.check,
                  {.seed = static_cast<std::uint64_t>(config.seed),
                   .cache_folder = cache_folder(),
                   .warn = [&](const std::string& text) {
                     if (context.identity.rank == 0) context.messages.warn(text);
                   }});
}

int train(const TrainFlags& flags, const Context& context) {
  const RunFlags run = with_overrides(flags);
  RunConfig config = read_config(run, context.identity.local_ranks);
  const bool speaks = context.identity.rank == 0 && !flags.quiet;
  if (speaks && !flags.resume) note_replaced(run, context.messages);
  TrainingRequest request = training_request(flags, context);
  if (!flags.resume) request.init = initial_weights(flags, config);
  if (flags.skip_done) {
    const auto done = run_to_skip(flags, config, request, context);
    if (done) {
      if (speaks) {
        context.messages.say("skipped: " + done->string() + " is done",
                             {{"event", "skipped"}, {"run", done->string()}});
      }
      return 0;
    }
  }
  if (flags.resume) {
    request.resume = folder_to_resume(flags, config.name);
    config = config_of_run(request.resume, run);
    if (!flags.init.empty()) {
      require_init_of_run(request.resume / "run.json",
                          {.from = flags.init, .skip = flags.init_skip},
                          "a resumed run already has its weights: leave out the flags of --init");
    }
    const fs::path file = find_config(run.config);
    const char* data = std::getenv("TRAINYARD_DATA");
    const RunConfig given = read_run_config(file, overrides_of(run), data == nullptr ? "" : data);
    require_config_of_run(given, file.string(), config, request.resume);
    config = at_places_of(given, std::move(config), request.resume, run);
    if (is_complete(request.resume, config, flags, context)) return 0;
  }
  request.original_yaml =
      read_text(find_config(run.config), ErrorKind::config, config::FileLimits{}.bytes);
  request.config = std::move(config);
  return train_with(std::move(request), flags, context);
}

int resume(const TrainFlags& flags, const Context& context) {
  TrainingRequest request = training_request(flags, context);
  request.resume = flags.resume_folder;
  request.config = config_of_run(request.resume, flags.run);
  if (is_complete(request.resume, request.config, flags, context)) return 0;
  require_optimizer_of_run(request.config, request.resume);
  return train_with(std::move(request), flags, context);
}

/// The arguments that continue the run of a failed attempt with `arguments`: the same, and --resume
/// with the folder. `before`: the newest unfinished run when the first attempt began.
std::vector<std::string> resume_arguments(std::vector<std::string> arguments,
                                          const TrainFlags& flags, const std::string& name,
                                          const std::optional<fs::path>& before) {
  if (flags.resume) return arguments;
  const bool given = !flags.out.empty();
  const auto newest =
      given ? std::optional(fs::path(flags.out)) : newest_unfinished_run("runs", name);
  // Without a new run folder the attempt never began: start it again unchanged.
  if (!newest || (!given && newest == before) || !is_run_folder(*newest)) return arguments;
  arguments.emplace_back("--resume");
  if (!given) arguments.insert(arguments.end(), {"--out", newest->string()});
  return arguments;
}

/// Throws for a run: it may be meant to go on, or to be trained once more.
void refuse_run(const std::string& config) {
  if (!is_run_folder(config)) return;
  refuse_command("'" + config + "' is a run: 'train resume " + shell_quoted(config) +
                 "' continues it, 'train --config " + shell_quoted(config + "/config.yaml") +
                 "' trains its config once more");
}

int train_in_ranks(const TrainFlags& flags, const Context& context) {
  refuse_run(flags.run.config);
  std::string name;
  std::optional<fs::path> before;
  const SpawnSteps plan{.check =
                            [&] {
                              const RunConfig config = read_config(with_overrides(flags));
                              name = config.name;
                              if (!flags.resume) static_cast<void>(initial_weights(flags, config));
                              before = newest_unfinished_run("runs", name);
                            },
                        .resume_arguments =
                            [&](std::vector<std::string> arguments) {
                              return resume_arguments(std::move(arguments), flags, name, before);
                            }};
  return in_ranks(flags.run, flags.spawn, context, plan,
                  [&](const Context& own) { return train(flags, own); });
}

int resume_in_ranks(const TrainFlags& flags, const Context& context) {
  const fs::path folder = flags.resume_folder;
  const SpawnSteps plan{.check = [&] { static_cast<void>(config_of_run(folder, flags.run)); },
                        .resume_arguments =
                            [&](std::vector<std::string> arguments) {
                              // The same run again, even if runs/NAME has a newer one by then.
                              for (std::string& word : arguments) {
                                if (newest_run(word)) word = folder.string();
                              }
                              return arguments;
                            },
                        .log_folder = is_run_folder(folder) ? folder / "logs" : fs::path()};
  return in_ranks(flags.run, flags.spawn, context, plan,
                  [&](const Context& own) { return resume(flags, own); });
}

}  // namespace

void declare_train(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<TrainFlags>();  // shared with the action, which outlives parsing
  add_start_flags(app, *flags, context);
  app.add_flag("--resume", flags->resume, "continue --out, or this config's newest unfinished run");
  app.add_flag("--skip-done", flags->skip_done, "do nothing if this run has completed before");
  add_data_flags(app, flags->check, "with --resume, --skip-done: accept changed data");
  add_spawn_flags(app, flags->spawn);
  add_output_flags(app, *flags);
  action = [flags, context] { return train_in_ranks(*flags, context); };
}

void declare_resume(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<TrainFlags>();  // shared with the action, which outlives parsing
  add_run(app, "run", flags->resume_folder, "run folder, or runs/NAME for the newest run there",
          context)
      ->required();
  add_device_flags(app, flags->run);
  add_spawn_flags(app, flags->spawn);
  add_output_flags(app, *flags);
  add_data_flags(app, flags->check, "continue although the data have changed");
  action = [flags, context] { return resume_in_ranks(*flags, context); };
}

}  // namespace trainyard::cli
