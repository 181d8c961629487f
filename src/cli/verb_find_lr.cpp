#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "analysis/rate_search_output.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "run/rate_search.h"
#include "train/stop_request.h"

namespace trainyard::cli {
namespace {

struct FindFlags {
  RunFlags run;
  RateSearchOptions options;
  std::string csv, output;
  bool json = false;
};

/// Diverging at once is no result: there is no rate to begin with.
int exit_code_of(const RateSearch& search) {
  return search.steps.empty() ? static_cast<int>(ErrorKind::diverged) : 0;
}

int find_rate(const FindFlags& flags) {
  if (!(flags.options.from < flags.options.to)) {
    throw Error(ErrorKind::command_line, "--from must be below --to");
  }
  const std::string csv = place_for("--csv", flags.csv);
  const std::string output = place_for("--output", flags.output);
  if (!output.empty()) require_picture(output);
  const RunConfig run = read_config(flags.run);
  const StopSignals signals;
  RateSearchOptions options = flags.options;
  options.stopped = [&signals] { return signals.stop_signal() != 0; };
  const RateSearch search = search_rate(run, device_choice(flags.run), options);
  if (signals.stop_signal() != 0) end_by_signal(signals.stop_signal());
  const std::string key = "optimizer." + std::string(run.optimizer->name) + ".lr";
  if (!csv.empty()) Disk().write_output(csv, rate_search_csv(search));
  if (!output.empty()) draw_output(rate_search_picture(search, run.name), output);
  const std::string text =
      flags.json ? json_line(rate_search_json(search, key)) : rate_search_text(search, key);
  print(text, flags.json);
  return exit_code_of(search);
}

}  // namespace

void declare_find_lr(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<FindFlags>();  // shared with the action, which outlives parsing
  constexpr double kLeast = 1e-30, kMost = 1e6;
  add_run_flags(app, flags->run);
  app.add_option("--from", flags->options.from, "learning rate of the first step")
      ->check(number_between(kLeast, kMost))
      ->type_name("RATE");
  app.add_option("--to", flags->options.to, "learning rate of the last step")
      ->check(number_between(kLeast, kMost))
      ->type_name("RATE");
  app.add_option("--steps", flags->options.steps, "steps, each with the next batch of the data")
      ->check(whole_number(2, 1'000'000))
      ->type_name("N");
  add_output(app, "--csv", flags->csv, "write step, lr, loss and smoothed loss to this file");
  add_output(app, "-o,--output", flags->output, "plot, .png, .svg or .pdf");
  app.add_flag("--json", flags->json, "the result as JSON");
  action = [flags] { return find_rate(*flags); };
}

}  // namespace trainyard::cli
