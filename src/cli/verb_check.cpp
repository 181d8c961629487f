// `train check`: all checks that `train` makes before step 1, and one batch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/text.h"
#include "cli/output.h"
#include "cli/spawn.h"
#include "cli/start_flags.h"
#include "cli/verbs.h"
#include "run/config/best_metric_choice.h"
#include "run/config/resolved_config.h"
#include "run/readiness.h"
#include "run/session/session_device.h"

namespace trainyard::cli {
namespace {

struct CheckFlags : StartFlags {
  SpawnFlags spawn;
  bool show_config = false;
};

std::string data_text(Session& session) {
  const SessionData& data = session.data();
  const std::string feeding = feeding_text(data, session.device());
  const std::int64_t classes = data.train->classes();
  return fmt::format("data: {} training and {} validation {} {}{}, {}",
                     with_separators(data.train->size()), with_separators(data.val->size()),
                     plural(data.val->size(), "sample"), sample_text(*data.train),
                     classes == 0 ? "" : " of " + count_text(classes, "class"),
                     feeding.empty() ? "batches prepared by the CPU" : feeding);
}

std::string batch_text(const Session& session) {
  const BatchNumbers& batch = session.batch();
  return fmt::format("batch: {} per step on {}; {} {} per epoch, {} dropped; {} in {}",
                     count_text(batch.global, "sample"), count_text(batch.ranks, "rank"),
                     with_separators(batch.steps), plural(batch.steps, "step"),
                     count_text(batch.dropped, "sample"), with_separators(batch.all_steps),
                     count_text(batch.epochs, "epoch"));
}

std::string best_metric_text(const Session& session) {
  const BestMetric best = best_metric_of(session.config(), session.metric_names());
  return "best checkpoint: by " + best_metric_column(best, session.metric_names()) + ", " +
         (best.larger_is_better ? "more" : "less") + " is better";
}

/// Facts about the run, one per line.
std::vector<std::string> facts(const ReadyRun& ready, const TrainingRequest& request,
                               RankGroup& ranks) {
  constexpr std::size_t kNames = 4;
  Session& session = *ready.session;
  const GraphTotals network = totals(session.model().graph().graph);
  std::vector<std::string> lines = {
      "run: " + session.config().name + " in " + ready.folder.string() + " on " +
          session.device().text,
      data_text(session),
      batch_text(session),
      fmt::format("network: {} {}, {} of them trained", with_separators(network.parameters_total),
                  plural(network.parameters_total, "parameter"),
                  with_separators(network.parameters_trainable)),
      text_of(forecast(session.model().programs())),
      best_metric_text(session)};
  if (request.init)
    std::ranges::copy(split(text_of(*request.init, kNames), '\n'), std::back_inserter(lines));
  const std::string hooks = hooks_text(session.config().hooks);
  if (!hooks.empty()) lines.push_back(hooks);
  lines.push_back("one batch forward and backward: loss " +
                  fixed_text(loss_of_one_batch(session, ranks), 4));
  return lines;
}

/// Checks this rank and prints the results on rank 0. Errors of other ranks are thrown on every
/// rank.
int check_rank(const CheckFlags& flags, TrainingRequest& request, RankGroup& ranks,
               Messages& messages) {
  const std::string config = resolved_yaml(request.config);
  const ReadyRun ready = ready_run(request, ranks, Disk());
  const std::vector<std::string> lines = facts(ready, request, ranks);
  ranks.sign_off();
  if (ranks.rank() != 0) return 0;
  // The config with the results as comments is a valid run file.
  if (flags.show_config) print_data(config);
  const char* const mark = flags.show_config ? "# " : "";
  for (const std::string& line : lines) print(mark + line + "\n");
  for (const std::string& warning : ready.warnings) messages.warn(warning);
  const std::size_t count = ready.warnings.size();
  std::printf("%s%s; nothing was written\n", mark,
              count == 0 ? "no problems found"
                         : fmt::format("the run can start, with {} above",
                                       count_text(static_cast<std::int64_t>(count), "warning"))
                               .c_str());
  return 0;
}

int check(const CheckFlags& flags, const Context& context) {
  RunConfig config = read_config(with_overrides(flags), context.identity.local_ranks);
  if (context.identity.rank == 0) note_replaced(with_overrides(flags), context.messages);
  TrainingRequest request = request_of(flags, context);
  Messages& messages = context.messages;
  request.config = std::move(config);
  request.init = initial_weights(flags, request.config);
  RankGroup ranks(rank_group_options(context.identity, request.config.limits, messages));
  request.device = device_in_group(flags.run, flags.spawn, ranks);
  request.device.check_all = true;
  request.device.warn = [&messages](const std::string& text) { messages.warn(text); };
  try {
    return naming_gpu(request.device, [&] { return check_rank(flags, request, ranks, messages); });
  } catch (const Error& error) {
    throw first_of_ranks(ranks, error);
  }
}

int check_in_ranks(const CheckFlags& flags, const Context& context) {
  const SpawnSteps plan{.check = [&] { static_cast<void>(read_config(with_overrides(flags))); }};
  return in_ranks(flags.run, flags.spawn, context, plan,
                  [&](const Context& own) { return check(flags, own); });
}

}  // namespace

void declare_check(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<CheckFlags>();  // shared with the action, which outlives parsing
  add_start_flags(app, *flags, context);
  add_image_flag(app, *flags);
  add_host_flags(app, flags->spawn);
  app.add_flag("--show-config", flags->show_config, "first print the run file with every default");
  action = [flags, context] { return check_in_ranks(*flags, context); };
}

}  // namespace trainyard::cli
