#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "graph/build.h"
#include "graph/summary.h"
#include "run/model_plan.h"

namespace trainyard::cli {
namespace {

struct SummaryFlags {
  RunFlags run;
  bool json = false, plan = false, expand = false;
};

int summarise_run(const SummaryFlags& flags) {
  RunConfig run = read_config(flags.run);
  const std::int64_t batch = replica_batch(run, 1);
  if (flags.plan) {
    const DeviceChoice choice = device_choice(flags.run);
    const SessionDevice device = make_device(choice, run.threads);
    std::fputs(plan_text(make_training_graph(run, batch), device).c_str(), stdout);
    return 0;
  }
  const Graph graph = build_graph(network_of(run), {.batch = batch, .profile = run.profile});
  const std::string text = flags.json     ? summary_json(summarise(graph))
                           : flags.expand ? expanded_yaml(graph, run.profile)
                                          : summary_text(summarise(graph));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void declare_summary(CLI::App& app, const Surroundings&, Action& action) {
  auto flags = std::make_shared<SummaryFlags>();  // shared with the action, which outlives parsing
  add_run_flags(app, flags->run);
  app.add_flag("--json", flags->json, "as JSON");
  app.add_flag("--plan", flags->plan, "the steps, buffers and offsets of the training plan");
  app.add_flag("--expand", flags->expand, "the network as YAML without blocks and loops");
  action = [flags] { return summarise_run(*flags); };
}

}  // namespace trainyard::cli
