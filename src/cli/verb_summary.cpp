#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/filesystem.h"
#include "base/output_place.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/step_nodes.h"
#include "cli/verbs.h"
#include "graph/build.h"
#include "graph/figure.h"
#include "graph/include.h"
#include "graph/summary.h"
#include "model/model_programs.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/config/losses.h"
#include "run/config/parameter_overrides.h"
#include "run/session/session_model.h"

namespace trainyard::cli {
namespace {

struct SummaryFlags {
  RunFlags run;
  bool json = false, plan = false, expand = false, all = false;
  std::optional<int> depth;
  std::string target;  // "": the device's
  std::string svg;     // --svg FILE
};

/// The plan for a GPU, which need not be present, and what its step launches; as JSON the latter.
std::string plan_for_gpu(const RunConfig& run, ModelOptions options, std::int64_t batch,
                         bool json) {
  if (run.precision == Precision::fp64) {
    refuse_command(
        "--target cuda computes in fp32, tf32, bf16 or fp16, not in fp64: give "
        "--precision");
  }
  options.target = cuda_target(run.precision.value_or(Precision::fp32));
  const TrainingGraph graph = make_training_graph(run, batch);
  const CountedStep step{run.name, batch, options.target, count_step(run, graph, options.target)};
  if (json) return prediction_json(step);
  return plan_text_without_device(graph, options) + prediction_text(step);
}

/// The plan for this run's device, or for a target whose device need not be present.
std::string plan_of(const RunConfig& run, const SummaryFlags& flags) {
  ModelOptions options;
  options.slots = state_blocks(run);
  options.average = average_options(run);
  options.accumulates = run.accumulate > 1;
  options.shards = shards_of_rank(run, 1);
  const std::int64_t batch = replica_batch(run, 1);
  if (flags.target == "cuda") return plan_for_gpu(run, options, batch, flags.json);
  if (flags.json) {
    refuse_command("--plan with --json gives what a step launches on a GPU: add --target cuda");
  }
  const SessionDevice device = make_device(device_choice(flags.run), run);
  options.target = device.target;
  options.threads = device.threads;
  return plan_text(make_training_graph(run, batch), *device.executors, options);
}

/// The table, folded as the flags say, by default if it is long.
std::string table_of(const Summary& summary, const SummaryFlags& flags) {
  constexpr std::size_t kLong = 60;
  if (flags.all || (!flags.depth && summary.rows.size() <= kLong)) return summary_text(summary);
  const Summary shown = folded(summary, flags.depth.value_or(1));
  std::string text = summary_text(shown);
  if (shown.rows.size() < summary.rows.size()) {
    text += fmt::format("{} in {}; --depth N shows N levels of blocks, --all each layer\n",
                        count_text(std::ssize(summary.rows), "layer"),
                        count_text(std::ssize(shown.rows), "row"));
  }
  return text;
}

/// The place for --svg; "" without it. Refuses it if nothing can draw it.
std::string place_for_figure(const std::string& svg) {
  const bool plain = !svg.empty() && !output_place(svg).is_stream();
  if (plain && lower_case(fs::path(svg).extension().string()) != ".svg") {
    refuse_command("--svg: '" + svg + "' does not end in .svg; name an SVG file");
  }
  if (!svg.empty() && !program_in_path("dot")) {
    refuse_command(
        "--svg: dot was not found, which draws the network; install it (apt-get install graphviz)");
  }
  return place_for("--svg", svg);
}

/// A network to show.
struct ShownNetwork {
  Graph graph;
  bool closing_in_loss = false;  // see summarise()
  std::optional<Error> problem;  // conflict of the run's rules and loss with it
};

void show(const ShownNetwork& network, const std::string& name, const std::string& svg,
          const SummaryFlags& flags) {
  if (!svg.empty()) draw_dot(dot_text(figure_of(network.graph, name)), svg);
  const Summary summary = summarise(network.graph, network.closing_in_loss);
  const std::string text = flags.json     ? summary_json(summary)
                           : flags.expand ? expanded_yaml(network.graph)
                                          : table_of(summary, flags);
  print(text, flags.json || flags.expand);
}

/// A network file of its own, as it is.
int summarise_network(const fs::path& file, const std::string& svg, const SummaryFlags& flags) {
  if (flags.plan || !overrides_of(flags.run).empty()) {
    refuse_command("'" + file.string() +
                   "' is a network; --plan and --set need a run file that "
                   "names it: network: {file: " +
                   file.filename().string() + "}");
  }
  show({.graph = build_graph(load_network(file), {.peel_activation = false})}, file.stem().string(),
       svg, flags);
  return 0;
}

/// Whether the loss and metrics can be attached without the data: they read labels.
bool reads_labels(const RunConfig& run) {
  return std::ranges::all_of(losses_of(run),
                             [](const auto& loss) { return loss->values().target == kLabelField; });
}

/// The network of a run; one that the run's rules or loss do not fit is shown too.
ShownNetwork network_of_run(const RunConfig& run) {
  const std::int64_t batch = replica_batch(run, 1);
  ShownNetwork shown{
      .graph = build_graph(network_of(run),
                           {.batch = batch, .profile = run.profile, .peel_activation = false})};
  try {
    shown.graph = build_whole_network(run, batch);
    shown.closing_in_loss = loss_computes_closing(run, shown.graph);
    if (reads_labels(run)) static_cast<void>(make_training_graph(run, batch));
  } catch (const Error& error) {
    shown.problem = error;
  }
  return shown;
}

int summarise_run(const SummaryFlags& flags) {
  const std::string svg = place_for_figure(flags.svg);
  const fs::path file = find_config(flags.run.config);
  if (is_network_file(file)) return summarise_network(file, svg, flags);
  const RunConfig run = read_config(flags.run);
  if (flags.plan) {
    print(plan_of(run, flags), flags.json);
    return 0;
  }
  const ShownNetwork network = network_of_run(run);
  show(network, run.name, svg, flags);
  if (network.problem) throw Error(*network.problem);
  return 0;
}

}  // namespace

void declare_summary(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<SummaryFlags>();  // shared with the action, which outlives parsing
  add_run_flags(app, flags->run, context);
  app.add_flag("--json", flags->json, "as JSON");
  add_count(app, "--depth", flags->depth,
            "collapse blocks below this depth (default: 1 above 60 layers)", 1, 1000);
  app.add_flag("--all", flags->all, "one row for each layer, also of more than 60")
      ->excludes("--depth");
  add_output(app, "--svg", flags->svg, "draw the network there too, each kind of block once");
  auto* plan = app.add_flag("--plan", flags->plan,
                            "the steps, buffers, offsets and memory of the training plan");
  auto* target = app.add_option("--target", flags->target,
                                "the plan for a GPU, even without one, with a predicted time");
  take_one_of(target->needs(plan), {"cuda"});
  app.add_flag("--expand", flags->expand, "the network as YAML with blocks and loops expanded");
  for (const char* whole : {"--json", "--plan", "--expand"}) {
    for (const char* part : {"--depth", "--all"}) app.get_option(part)->excludes(whole);
  }
  app.get_option("--svg")->excludes(plan);
  action = [flags] { return summarise_run(*flags); };
}

}  // namespace trainyard::cli
