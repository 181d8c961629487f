#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/atomic_file.h"
#include "base/text.h"
#include "bench/bench.h"
#include "cli/bench_scaling.h"
#include "cli/checks.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/step_nodes.h"
#include "cli/verbs.h"
#include "formats/json.h"

namespace trainyard::cli {
namespace {

struct BenchFlags {
  SuiteFlags suite;
  ScalingFlags scaling;  // also those shared by both kinds
  BenchOptions options;
  std::string node_times;  // a file to write
  std::string compare;     // a file with the throughput of other programs
};

std::string json_row(const BenchResult& result, const std::vector<PeerRate>& peers) {
  Json row{{"program", "train"},
           {"net", result.network},
           {"batch", result.batch},
           {"device", result.device},
           {"threads", result.threads},
           {"images_per_s", result.images_per_second},
           {"low", result.low},
           {"high", result.high},
           {"ms_per_step", result.step_milliseconds},
           {"forward_ms", result.forward_milliseconds},
           {"backward_ms", result.backward_milliseconds},
           {"update_ms", result.update_milliseconds},
           {"peak_mib", result.peak_mib},
           {"first_step_s", result.first_step_seconds},
           {"gflop_per_step", result.counts.gflop},
           {"peak_gflops", result.peaks.gflops},
           {"share_of_peak", result.share_of_peak},
           {"gbyte_per_step", result.counts.gigabytes},
           {"peak_gbyte_per_s", result.peaks.gigabytes_per_second},
           {"launches", result.counts.launches},
           {"launch_us", number_or_null(result.peaks.launch_microseconds)},
           {"arithmetic_floor_ms", result.floors.arithmetic_milliseconds},
           {"memory_floor_ms", result.floors.memory_milliseconds},
           {"latency_floor_ms", number_or_null(result.floors.latency_milliseconds)},
           {"share_of_floor", result.share_of_floor},
           {"parameters", result.parameters},
           {"loss", result.loss}};
  if (result.shards) {
    row["shards"] = result.shards->count;
    row["shards_ms_per_step"] = result.shards->step_milliseconds;
    row["shards_ratio"] = result.shards->step_milliseconds / result.step_milliseconds;
  }
  if (result.nodes) row.update(nodes_json(*result.nodes));
  if (!result.layers.empty()) row["layers"] = layers_json(result);
  if (!result.node_times.empty()) row["node_times"] = node_times_json(result);
  for (const PeerRate& peer : peers) {
    row["peers"].push_back({{"peer", peer.name},
                            {"images_per_s", peer.images_per_second},
                            {"ratio", result.images_per_second / peer.images_per_second}});
  }
  return json_line(row);
}

/// The arithmetic of a step and its share of the peak.
std::string arithmetic_text(const BenchResult& result) {
  const double rate = result.counts.gflop / (result.step_milliseconds * 1e-3);
  return fmt::format(
      "{:.1f} GFLOP per step, {:.0f} of {:.0f} GFLOP/s: {:.0f} % of the measured peak",
      result.counts.gflop, rate, result.peaks.gflops, 100 * result.share_of_peak);
}

/// The roofline of a step and its inputs; latency is "-" if work runs synchronously.
std::string floors_text(const BenchResult& result) {
  const Floors& floors = result.floors;
  std::string latency = "-";
  if (floors.latency_milliseconds) {
    latency = fmt::format("{:.2f} ms ({} launches of {:.2f} us)", *floors.latency_milliseconds,
                          result.counts.launches, *result.peaks.launch_microseconds);
  }
  return fmt::format(
      "roofline: arithmetic {:.2f} ms, memory {:.2f} ms ({:.3f} GB at {:.1f} GB/s), latency {}; "
      "{:.0f} % of the roofline",
      floors.arithmetic_milliseconds, floors.memory_milliseconds, result.counts.gigabytes,
      result.peaks.gigabytes_per_second, latency, 100 * result.share_of_floor);
}

/// The cost of shards on one rank.
std::string shards_text(const BenchResult& result) {
  if (!result.shards) return "";
  return fmt::format(
      "  shards {}: {:.2f} ms per step vs. {:.2f} ms in one pass, {:.2f} times as long\n",
      result.shards->count, result.shards->step_milliseconds, result.step_milliseconds,
      result.shards->step_milliseconds / result.step_milliseconds);
}

std::string table(const BenchResult& result, const std::vector<PeerRate>& peers) {
  std::string out = fmt::format(
      "{}: batch {}, {}, {} trainable parameters\n"
      "  {:.1f} {}/s (windows {:.1f} to {:.1f}), {:.2f} ms per step\n"
      "  passes: forward {:.2f} ms, backward {:.2f} ms, update {:.2f} ms\n"
      "  {}\n"
      "  {}\n"
      "  first step after {:.2f} s, peak memory {:.0f} MiB, loss {:.4f}\n",
      result.network, result.batch, result.device, with_separators(result.parameters),
      result.images_per_second, result.unit, result.low, result.high, result.step_milliseconds,
      result.forward_milliseconds, result.backward_milliseconds, result.update_milliseconds,
      arithmetic_text(result), floors_text(result), result.first_step_seconds, result.peak_mib,
      result.loss);
  if (result.nodes) out += "  " + nodes_text(*result.nodes) + "\n";
  out += shards_text(result);
  for (const PeerRate& peer : peers) {
    out += fmt::format("  vs. {}: {:.1f} {}/s, ratio {:.2f}\n", peer.name, peer.images_per_second,
                       result.unit, result.images_per_second / peer.images_per_second);
  }
  return out + layers_text(result) + node_times_text(result);
}

int bench_steps(const BenchFlags& flags, const Context& context) {
  BenchOptions options = flags.options;
  options.device = device_choice(flags.scaling.run);
  options.windows = flags.scaling.windows;
  options.window_seconds = flags.scaling.window_seconds;
  options.spans = !flags.node_times.empty();
  if (flags.scaling.batch) options.batch = *flags.scaling.batch;
  const std::string node_times = place_for("--node-times", flags.node_times);
  const RunConfig run = read_config(flags.scaling.run);
  std::vector<PeerRate> peers;
  if (!flags.compare.empty()) {
    require_file("--compare", flags.compare, ErrorKind::data);
    peers = read_peer_rates(flags.compare, run.name, options.batch);
  }
  const BenchResult result = bench(run, options, context.now, context.started);
  if (options.spans) Disk().write_output(node_times, spans_lines(result));
  print(flags.scaling.json ? json_row(result, peers) : table(result, peers), flags.scaling.json);
  return 0;
}

void add_step_flags(CLI::App& app, BenchFlags& flags) {
  app.add_flag("--layers", flags.options.layers, "time each op of a step, on a GPU each node");
  add_output(app, "--node-times", flags.node_times,
             "JSON lines of when a GPU's kernels run in a step, in builds with "
             "TRAINYARD_NODE_TIMES");
  app.add_option("--compare", flags.compare, "other programs' throughput, JSON lines, to compare")
      ->type_name("FILE");
}

/// All of them require --scaling, which excludes those of add_step_flags().
void add_scaling_flags(CLI::App& app, ScalingFlags& flags) {
  CLI::Option* const scaling =
      app.add_option("--scaling", flags.counts,
                     "numbers of ranks, as 1,2,4: what limits the speed-up")
          ->type_name("LIST");
  scaling->excludes("--layers")->excludes("--node-times")->excludes("--compare");
  add_count(app, "--rounds", flags.rounds, "starts of each number of ranks; suites: 1", 1, 1000);
  app.add_flag("--inference", flags.inference, "with --scaling or --suite: forward passes only");
  add_output(app, "--plot,--output", flags.output, "plot (scaling.png), with a .csv next to it");
  add_host_flags(app, flags.spawn);
  for (const char* name : {"--replicas", "--hosts", "--sync-dir"}) {
    app.get_option(name)->needs(scaling);
  }
}

void add_suite_flags(CLI::App& app, SuiteFlags& flags) {
  CLI::Option* const suite =
      app.add_option("--suite", flags.name, "instead of a run file: a published benchmark's rows")
          ->type_name("NAME");
  suite->excludes("--config")->excludes("--layers")->excludes("--node-times");
  suite->excludes("--compare");
  suite->excludes("--replicas")->excludes("--hosts")->excludes("--sync-dir");
  app.add_option("--rows", flags.rows, "only these of its configs, as in a,b")
      ->type_name("LIST")
      ->needs(suite);
}

/// What needs --scaling or --suite.
void check_starts(const CLI::App& app, const BenchFlags& flags) {
  if (!flags.suite.name.empty()) return;
  if (flags.scaling.run.config.empty()) {
    refuse_command("bench needs a run file, --config FILE, or a suite, --suite keras-mxnet");
  }
  if (!flags.scaling.counts.empty()) return;
  for (const char* name : {"--rounds", "--plot", "--inference"}) {
    if (app.get_option(name)->count() > 0) {
      refuse_command(std::string(name) + " needs --scaling or --suite");
    }
  }
}

}  // namespace

void declare_bench(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<BenchFlags>();  // shared with the action, which outlives parsing
  ScalingFlags& shared = flags->scaling;
  add_run_flags(app, shared.run, context);
  add_count(app, "--batch", shared.batch, "samples per step (128); with --scaling per rank", 1,
            1 << 20);
  add_count(app, "--windows", shared.windows, "timed windows; the median is reported", 1, 1000);
  app.add_option("--seconds", shared.window_seconds, "length of a window")
      ->check(number_between(0.01, 3600))
      ->type_name("SECONDS");
  app.add_flag("--json", shared.json, "JSON lines instead of the table");
  add_step_flags(app, *flags);
  add_scaling_flags(app, shared);
  add_suite_flags(app, flags->suite);
  app.get_option("--config")->required(false);
  action = [&app, flags, context] {
    check_starts(app, *flags);
    const bool of_suite = !flags->suite.name.empty();
    if (of_suite && app.get_option("--rounds")->count() == 0) flags->scaling.rounds = 1;
    if (of_suite) return bench_suite(flags->suite, flags->scaling, context);
    return flags->scaling.counts.empty() ? bench_steps(*flags, context)
                                         : bench_scaling(flags->scaling, context);
  };
}

}  // namespace trainyard::cli
