// `train sweep`: many runs of one config, each a process of `train`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/run_curves.h"
#include "analysis/run_table.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/console.h"
#include "cli/draw.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/spawn.h"
#include "cli/start_flags.h"
#include "cli/verbs.h"
#include "ranks/stop_vote.h"
#include "report/plotter.h"
#include "run/run_folder.h"
#include "sweep/sweep.h"

namespace trainyard::cli {
namespace {

struct SweepFlags : TrainedFlags {
  std::vector<std::string> grid;
  std::optional<std::int64_t> seeds;
  std::optional<std::int64_t> random;
  std::uint64_t random_seed = 0;
  std::optional<int> jobs;
  std::string out;
  bool dry_run = false;
  DataCheck check;
};

/// The sweep before its first process.
struct Sweep {
  std::string file;  // the run file
  fs::path folder;
  std::vector<SweepAxis> axes;
  std::vector<SweepRun> runs;
  std::vector<int> gpus;  // ordinals; empty: each run chooses its device by itself
  std::size_t jobs = 1;
  std::int64_t threads = 0;  // threads of each run whose config gives none
  std::string hooks;         // hooks_text()
};

/// The points of the sweep; the seeds become an axis of it.
std::vector<SweepPoint> points_of(const SweepFlags& flags, std::int64_t seed,
                                  std::vector<SweepAxis>& axes) {
  std::vector<SweepPoint> points =
      flags.random ? random_points(axes, *flags.random, flags.random_seed) : grid_points(axes);
  return flags.seeds ? with_seeds(axes, points, seed, *flags.seeds) : points;
}

/// The config of a run as typed: without threads, if neither file nor flags give them.
RunConfig config_of(const SweepFlags& flags, const std::vector<std::string>& overrides) {
  RunFlags run = with_overrides(flags);
  run.overrides.insert(run.overrides.end(), overrides.begin(), overrides.end());
  RunConfig config =
      read_run_config(find_config(run.config), overrides_of(run), variable("TRAINYARD_DATA"));
  if (flags.run.threads > 0) settle_threads(config, flags.run.threads);
  return config;
}

/// The GPUs among which --gpus distributes the runs; none if it leaves the choice to each.
std::vector<int> gpus_of_sweep(const SweepFlags& flags) {
  using Asked = GpuRequest::Kind;
  const GpuRequest request = parse_gpus(gpus_of(flags.run));
  std::vector<int> ordinals;
  if (request.kind == Asked::unsaid || request.kind == Asked::none) return ordinals;
  const UsableGpus usable = open_gpus(request, gpu_search_paths());
  for (const GpuFinding& gpu : usable.gpus) ordinals.push_back(gpu.ordinal);
  return ordinals;
}

/// Throws Error{data} if a run that has begun has other data than its config names now.
void check_data(const std::vector<SweepRun>& runs, const std::vector<RunConfig>& configs,
                const DataCheck& check) {
  SweepData data({.cache_folder = cache_folder(), .warn = print_warning}, check);
  for (std::size_t i = 0; i < runs.size(); ++i) data.compare(runs[i], configs[i]);
}

/// All configs are read before anything starts: a key that no config has is told at once.
void read_sweep_runs(Sweep& sweep, const SweepFlags& flags, std::int64_t seed, Messages& messages) {
  constexpr std::size_t kMany = 500;
  std::vector<RunConfig> configs;
  const std::vector<SweepPoint> points = points_of(flags, seed, sweep.axes);
  if (points.size() > kMany) {
    messages.note("reading the configs of " + count_text(std::ssize(points), "run") + " ...");
  }
  for (const SweepPoint& point : points) {
    configs.push_back(config_of(flags, point_overrides(sweep.axes, point)));
    if (sweep.folder.empty()) {
      require_plain_name(configs.front().name);
      sweep.folder = fs::path("sweeps") / configs.front().name;
    }
    sweep.runs.push_back(sweep_run(sweep.folder, sweep.axes, point));
  }
  RunFlags first = with_overrides(flags);
  const std::vector<std::string>& values = sweep.runs.front().overrides;
  first.overrides.insert(first.overrides.end(), values.begin(), values.end());
  note_replaced(first, messages);
  require_different(sweep.runs, configs);
  for (std::size_t i = 0; i < sweep.runs.size(); ++i) {
    SweepRun& run = sweep.runs[i];
    run.before = progress_of(run, configs[i], sweep.file);
    if (run.before == SweepProgress::none) continue;
    require_init_of_run(run.folder / "run.json", init_flags(flags, configs[i]),
                        "give --out another folder for a sweep with other weights");
  }
  check_data(sweep.runs, configs, flags.check);
}

Sweep prepare(const SweepFlags& flags, Messages& messages) {
  if (flags.grid.empty() && !flags.seeds) {
    refuse_command("a sweep needs values: --grid KEY=VALUES, or --seeds N for N seeds");
  }
  Sweep sweep{.file = find_config(flags.run.config).string(), .folder = flags.out};
  for (const std::string& text : flags.grid) sweep.axes.push_back(parse_axis(text));
  for (const SweepAxis& axis : sweep.axes) {
    if ((axis.key == "epochs" && flags.epochs) || (axis.key == "seed" && flags.seed)) {
      refuse_command("--" + axis.key + " and --grid " + axis.key +
                     " contradict each other; give one of them");
    }
  }
  // Its errors are those of the file, not of a run.
  const RunConfig config = read_config(with_overrides(flags));
  sweep.hooks = hooks_text(config.hooks);
  static_cast<void>(initial_weights(flags, config));
  sweep.gpus = gpus_of_sweep(flags);
  const std::size_t devices = std::max<std::size_t>(1, sweep.gpus.size());
  sweep.jobs = flags.jobs ? static_cast<std::size_t>(*flags.jobs) : devices;
  read_sweep_runs(sweep, flags, config.seed, messages);
  sweep.jobs = std::min(sweep.jobs, sweep.runs.size());
  return sweep;
}

std::vector<std::string> device_arguments(const SweepFlags& flags, const Sweep& sweep,
                                          std::size_t slot) {
  std::vector<std::string> words;
  if (!flags.run.device.empty()) words.insert(words.end(), {"--device", flags.run.device});
  if (flags.run.no_tune) words.emplace_back("--no-tune");
  if (!sweep.gpus.empty()) {
    const int gpu = sweep.gpus[slot % sweep.gpus.size()];
    words.insert(words.end(), {"--gpus", "id:" + std::to_string(gpu)});
  } else if (!flags.run.gpus.empty()) {
    words.insert(words.end(), {"--gpus", flags.run.gpus});
  }
  return words;
}

/// The arguments of a run's process: a new run, or the continuation of what is in its folder.
std::vector<std::string> arguments_of(const SweepFlags& flags, const Sweep& sweep,
                                      const SweepRun& run, std::size_t slot, double seconds_left) {
  std::vector<std::string> words;
  if (run.before == SweepProgress::unfinished) {
    words = {"resume", run.folder.string()};
    if (flags.check.changed) words.emplace_back("--changed-data");
    if (flags.check.all_files) words.emplace_back("--check-data");
  } else {
    RunFlags own = with_overrides(flags);
    own.overrides.insert(own.overrides.end(), run.overrides.begin(), run.overrides.end());
    const std::int64_t threads = read_config(own, static_cast<int>(sweep.jobs)).threads;
    words = {
        "train", sweep.file, "--out", run.folder.string(), "--threads", std::to_string(threads)};
    for (const std::string& text : overrides_of(own)) words.insert(words.end(), {"--set", text});
    if (!flags.init.empty()) words.insert(words.end(), {"--init", flags.init});
    for (const std::string& text : flags.init_skip) {
      words.insert(words.end(), {"--init-skip", text});
    }
  }
  if (flags.max_seconds > 0) {
    words.insert(words.end(), {"--max-time", number_text(std::ceil(seconds_left))});
  }
  const std::vector<std::string> device = device_arguments(flags, sweep, slot);
  words.insert(words.end(), device.begin(), device.end());
  return words;
}

/// "12 runs, 2 at a time: 5 finished, 1 to resume, 6 new | sweeps/tiny".
std::string start_text(const Sweep& sweep) {
  const auto count = [&](auto... states) {
    return std::ranges::count_if(
        sweep.runs, [&](const SweepRun& run) { return ((run.before == states) || ...); });
  };
  return fmt::format("{}, {} at a time: {} finished, {} to resume, {} new | {}",
                     count_text(std::ssize(sweep.runs), "run"), sweep.jobs,
                     count(SweepProgress::completed, SweepProgress::diverged),
                     count(SweepProgress::unfinished), count(SweepProgress::none),
                     sweep.folder.string());
}

int list(const Sweep& sweep) {
  constexpr const char* kWords[] = {"to start", "to continue", "completed", "diverged"};
  for (const SweepRun& run : sweep.runs) {
    std::printf("%s: %s\n", run.point.name.c_str(), kWords[static_cast<int>(run.before)]);
  }
  if (!sweep.hooks.empty()) print(sweep.hooks + "\n");
  return 0;
}

void refuse_ranks() {
  const auto identity = own_identity();
  if (!identity) return;
  refuse_command("train sweep starts processes by itself, but " + other_launcher(*identity) +
                 "; start it alone");
}

/// Draws the curves of all runs into one image, if a run has any.
void draw_curves(const Sweep& sweep, const Context& context, const Clock& clock) {
  const std::vector<RecordedRun> runs = measured_runs(sweep.runs, clock);
  if (runs.empty()) return;
  if (!program_in_path("gnuplot")) {
    return context.messages.warn(missing_gnuplot_warning("table.csv"));
  }
  const fs::path file = sweep.folder / "curves.png";
  try {
    draw(run_curves(runs, {}), file.string());
    print(file.string() + " has the curves\n");
  } catch (const Error& error) {
    context.messages.warn(error.what());  // the runs and their table are there without it
  }
}

/// Writes a table to `file` and prints it.
void write_table(const RunTable& table, const fs::path& file) {
  Disk().replace_file(file, run_table_csv(table));
  print("\n" + run_table_text(table, output_columns()) + "\n" + file.string() +
        " has every column\n");
}

void show_results(const Sweep& sweep, const SweepResult& result, const Clock& clock) {
  const RunTable table = results_of(sweep.axes, sweep.runs, result.ends, clock);
  write_table(table, sweep.folder / "table.csv");
}

/// Writes and prints the means over the seeds.
void show_means(const Sweep& sweep, const Clock& clock, Messages& messages) {
  const std::vector<RecordedRun> runs = measured_runs(sweep.runs, clock);
  if (runs.empty()) return;
  std::vector<std::string> keys;
  for (const SweepAxis& axis : sweep.axes) keys.push_back(axis.key);
  keys.pop_back();  // the seed
  write_table(group_runs(runs, keys, [&](const std::string& text) { messages.warn(text); }),
              sweep.folder / "means.csv");
}

int sweep_runs(const SweepFlags& flags, const Context& context) {
  refuse_ranks();
  const Sweep sweep = prepare(flags, context.messages);
  if (flags.dry_run) return list(sweep);
  const SweepLock lock(sweep.folder);
  const auto tell = [&](const std::string& line) {
    print(line + "\n");
    std::fflush(stdout);
  };
  tell(start_text(sweep));
  const auto seconds_left = [&] { return flags.max_seconds - (context.now() - context.started); };
  const SweepRequest request{
      .runs = sweep.runs,
      .jobs = sweep.jobs,
      .command =
          [&](const SweepRun& run, std::size_t slot) {
            return SpawnCommand{.program = own_program(),
                                .arguments = arguments_of(flags, sweep, run, slot, seconds_left()),
                                .environment = own_environment()};
          },
      .tell = tell,
      .may_start = [&] { return flags.max_seconds == 0 || seconds_left() > 0; }};
  const SystemClock clock;
  const SweepResult result = run_sweep(request, clock);
  show_results(sweep, result, clock);
  if (flags.seeds) show_means(sweep, clock, context.messages);
  if (result.signal == 0) draw_curves(sweep, context, clock);
  tell(counts_text(result.ends));
  if (result.signal != 0) {
    context.messages.note("stopped; to continue: " + context.command);
    end_by_signal(result.signal);
  }
  const int code = exit_code_of(result.ends);
  if (flags.max_seconds > 0 && seconds_left() <= 0 && code != 0) {
    context.messages.note("stopped by --max-time; to continue: " + context.command);
  }
  return code;
}

}  // namespace

void declare_sweep(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<SweepFlags>();  // shared with the action, which outlives parsing
  add_trained_flags(app, *flags, context);
  app.add_option(
         "--grid", flags->grid,
         "a key and its values (repeatable): KEY=A,B,C, KEY=log:1e-4..1e-1:4; with --random "
         "ranges: KEY=lin:0..0.5")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUES");
  add_count(app, "--seeds", flags->seeds, "N seeds for each run, with mean and deviation", 1,
            10'000);
  add_count(app, "--random", flags->random, "draw N combinations instead of running all", 1,
            10'000);
  add_count(app, "--random-seed", flags->random_seed, "seed of the draws of --random", 0);
  add_count(app, "--jobs", flags->jobs, "runs at a time (default: one per GPU of --gpus, or 1)", 1,
            1024);
  app.add_option("--out", flags->out, "folder of the sweep (default: sweeps/NAME)")
      ->type_name("FOLDER");
  add_time_flag(app, flags->max_seconds, "stop the sweep, resumably (exit 75)");
  add_data_flags(app, flags->check, "continue although the data have changed");
  app.add_flag("--dry-run", flags->dry_run, "list the runs and start none");
  action = [flags, context] { return sweep_runs(*flags, context); };
}

}  // namespace trainyard::cli
