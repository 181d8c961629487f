#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "cli/checks.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "graph/summary.h"
#include "model/model_plan.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_rules.h"
#include "run/config/parameter_rules.h"
#include "run/config/shards.h"
#include "run/session/session_model.h"

namespace trainyard::cli {
namespace {

struct SummaryFlags {
  RunFlags run;
  bool json = false, plan = false, expand = false;
  std::string target;  // "": the device's
};

/// The plan for this run's device, or for a target whose device need not be present.
std::string plan_of(const RunConfig& run, const SummaryFlags& flags) {
  ModelOptions options;
  options.slots = state_blocks(run);
  options.average = average_options(run);
  options.accumulates = run.accumulate > 1;
  options.shards = shards_of_rank(run, 1);
  const std::int64_t batch = replica_batch(run, 1);
  if (flags.target == "cuda") {
    if (run.precision == Precision::fp64) {
      throw Error(
          ErrorKind::command_line,
          "--target cuda computes in fp32, tf32, bf16 or fp16, not in fp64: give --precision");
    }
    options.target = cuda_target(run.precision.value_or(Precision::fp32));
    return plan_text_without_device(make_training_graph(run, batch), options);
  }
  const SessionDevice device = make_device(device_choice(flags.run), run);
  options.target = device.target;
  options.threads = device.threads;
  return plan_text(make_training_graph(run, batch), *device.executors, options);
}

int summarise_run(const SummaryFlags& flags) {
  const RunConfig run = read_config(flags.run);
  if (flags.plan) {
    std::fputs(plan_of(run, flags).c_str(), stdout);
    return 0;
  }
  const std::int64_t batch = replica_batch(run, 1);
  const Graph graph = build_whole_network(run, batch);
  const Summary summary = summarise(graph, loss_computes_closing(run, graph));
  const std::string text = flags.json     ? summary_json(summary)
                           : flags.expand ? expanded_yaml(graph)
                                          : summary_text(summary);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void declare_summary(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<SummaryFlags>();  // shared with the action, which outlives parsing
  add_run_flags(app, flags->run);
  app.add_flag("--json", flags->json, "as JSON");
  auto* plan = app.add_flag("--plan", flags->plan,
                            "the steps, buffers, offsets and memory of the training plan");
  app.add_option("--target", flags->target,
                 "with --plan: the plan for a GPU, even if this machine has none")
      ->check(one_word_of({"cuda"}))
      ->type_name("WORD")
      ->needs(plan);
  app.add_flag("--expand", flags->expand, "the network as YAML with blocks and loops expanded");
  action = [flags] { return summarise_run(*flags); };
}

}  // namespace trainyard::cli
