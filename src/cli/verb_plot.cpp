#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_curves.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"

namespace trainyard::cli {
namespace {

struct PlotFlags {
  std::vector<std::string> runs;
  CurveChoice choice;
  RunFlags schedule;  // config and overrides of --schedule
  std::int64_t replicas = 1;
  std::optional<std::int64_t> samples;
  std::string output = "plot.png";
};

std::int64_t samples_of(const RunConfig& run, const PlotFlags& flags) {
  const auto samples = flags.samples ? flags.samples : expected_samples(run);
  if (samples) return *samples;
  refuse_command(run.data.train.where.text() +
                 ": --schedule reads no data, and the number of "
                 "samples of source '" +
                 std::string(run.data.train.source->name()) +
                 "' is not in the file; give it with --samples N");
}

int plot_schedule(const PlotFlags& flags, const std::string& output, const Context& context) {
  const RunConfig run = read_config(flags.schedule);
  const CurvePlot plot = schedule_curve(run, flags.replicas, samples_of(run, flags));
  if (run.plateau) context.messages.warn("'plateau' will multiply these learning rates");
  draw_output(plot, output);
  print(flags.output + ": " + plot.title + "\n");
  return 0;
}

int plot_runs(const PlotFlags& flags, const std::string& output, const Context& context) {
  const std::vector<RecordedRun> runs = recorded_runs(flags.runs, context.messages);
  draw_output(run_curves(runs, flags.choice), output);
  print(flags.output + ": " + count_text(std::ssize(runs), "run") + "\n");
  return 0;
}

int plot(const PlotFlags& flags, const Context& context) {
  const bool schedule = !flags.schedule.config.empty();
  if (schedule == !flags.runs.empty()) {
    refuse_command(schedule ? "--schedule draws a run that has not begun; leave out the run folders"
                            : "name run folders, or a run file with --schedule FILE");
  }
  const std::string output = place_for("--output", flags.output);
  require_image(output);
  return schedule ? plot_schedule(flags, output, context) : plot_runs(flags, output, context);
}

void add_curve_flags(CLI::App& app, CurveChoice& choice) {
  app.add_option("--curves", choice.columns,
                 "panels: columns of metrics.csv (default: loss,accuracy,lr,images_per_s,"
                 "grad_norm)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_flag("--steps", choice.steps, "against steps, with the values of steps.csv");
  app.add_option("--smooth", choice.smooth,
                 "weight of the earlier values in a running mean, as in TensorBoard: 0.9")
      ->check(number_between(0, 0.9999))
      ->type_name("FACTOR");
  app.add_option("--title", choice.title, "title of the plot")->type_name("WORDS");
}

void add_schedule_flags(CLI::App& app, PlotFlags& flags) {
  CLI::Option* const schedule =
      app.add_option("--schedule", flags.schedule.config,
                     "the learning rates of this run file, without data and GPU")
          ->type_name("FILE");
  add_set_flag(app, flags.schedule.overrides)->needs(schedule);
  add_count(app, "--samples", flags.samples, "training samples, for data whose size is not known",
            1)
      ->needs(schedule);
  add_count(app, "--replicas", flags.replicas, "ranks of the run", 1, 1 << 20)->needs(schedule);
}

}  // namespace

void declare_plot(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<PlotFlags>();  // shared with the action, which outlives parsing
  app.add_option("runs", flags->runs,
                 "run folders, folders with runs in them, or patterns in quotes: 'runs/lr-*'")
      ->type_name("RUN...");
  add_curve_flags(app, flags->choice);
  add_schedule_flags(app, *flags);
  add_output(app, "-o,--output", flags->output,
             "the plot: .png, .svg or .pdf; its gnuplot script is written beside it");
  action = [flags, context] { return plot(*flags, context); };
}

}  // namespace trainyard::cli
