#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "analysis/rate_search_output.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "cli/start_flags.h"
#include "cli/verbs.h"
#include "ranks/stop_vote.h"
#include "run/rate_search.h"

namespace trainyard::cli {
namespace {

struct FindFlags : TrainedFlags {
  RateSearchOptions options;
  std::string csv, output;
  bool json = false;
};

/// Diverging at once is not a result: there is no rate to begin with.
int exit_code_of(const RateSearch& search) {
  return search.steps.empty() ? static_cast<int>(ErrorKind::diverged) : 0;
}

int find_rate(const FindFlags& flags, const Context& context) {
  if (!(flags.options.from < flags.options.to)) {
    refuse_command("--from must be below --to");
  }
  const std::string csv = place_for("--csv", flags.csv);
  const std::string output = place_for("--output", flags.output);
  if (!output.empty()) require_image(output);
  const RunConfig run = read_config(with_overrides(flags));
  note_replaced(with_overrides(flags), context.messages);
  const StopSignals signals;
  RateSearchOptions options = flags.options;
  if (flags.epochs) options.epochs = *flags.epochs;
  const auto out_of_time = [&] {
    return flags.max_seconds > 0 && context.now() - context.started >= flags.max_seconds;
  };
  options.stopped = [&] { return signals.stop_signal() != 0 || out_of_time(); };
  const RateSearch search =
      search_rate(run, device_choice(flags.run), options, initial_weights(flags, run));
  if (!search.ended) context.messages.warn("--max-time: the higher learning rates were not tried");
  if (signals.stop_signal() != 0) end_by_signal(signals.stop_signal());
  const std::string key = "optimizer." + std::string(run.optimizer->name) + ".lr";
  if (!csv.empty()) Disk().write_output(csv, rate_search_csv(search));
  if (!output.empty()) draw_output(rate_search_plot(search, run.name), output);
  const std::string text =
      flags.json ? json_line(rate_search_json(search, key)) : rate_search_text(search, key);
  print(text, flags.json);
  return exit_code_of(search);
}

}  // namespace

void declare_find_lr(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<FindFlags>();  // shared with the action, which outlives parsing
  constexpr double kLeast = 1e-30, kMost = 1e6;
  add_trained_flags(app, *flags, context);
  app.add_option("--from", flags->options.from, "learning rate of the first step")
      ->check(number_between(kLeast, kMost))
      ->type_name("RATE");
  app.add_option("--to", flags->options.to, "learning rate of the last step")
      ->check(number_between(kLeast, kMost))
      ->type_name("RATE");
  add_count(app, "--steps", flags->options.steps, "steps, each with the next batch of the data", 2,
            1'000'000);
  add_output(app, "--csv", flags->csv, "write step, lr, loss and smoothed loss to this file");
  add_output(app, "-o,--output", flags->output, "plot, .png, .svg or .pdf");
  app.add_flag("--json", flags->json, "the result as JSON");
  app.get_option("--epochs")
      ->description("as many steps as N epochs have, instead of --steps")
      ->excludes("--steps");
  add_time_flag(app, flags->max_seconds, "end the test");
  action = [flags, context] { return find_rate(*flags, context); };
}

}  // namespace trainyard::cli
