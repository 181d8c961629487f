#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "run/bench.h"
#include "run/peer_rates.h"

namespace trainyard::cli {
namespace {

struct BenchFlags {
  RunFlags run;
  BenchOptions options;
  std::string compare;  // a file of peers' rates
  bool json = false;
};

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

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
  for (const PeerRate& peer : peers) {
    row["peers"].push_back({{"peer", peer.name},
                            {"images_per_s", peer.images_per_second},
                            {"ratio", result.images_per_second / peer.images_per_second}});
  }
  return json_line(row);
}

/// What the arithmetic of a step comes to.
std::string arithmetic_text(const BenchResult& result) {
  const double rate = result.counts.gflop / (result.step_milliseconds * 1e-3);
  return fmt::format("{:.1f} GFLOP a step, {:.0f} of {:.0f} GFLOP/s: {:.0f} % of the measured peak",
                     result.counts.gflop, rate, result.peaks.gflops, 100 * result.share_of_peak);
}

/// The floors of a step and what each comes from; a latency of "-" where work runs at once.
std::string floors_text(const BenchResult& result) {
  const Floors& floors = result.floors;
  std::string latency = "-";
  if (floors.latency_milliseconds) {
    latency = fmt::format("{:.2f} ms ({} launches of {:.2f} us)", *floors.latency_milliseconds,
                          result.counts.launches, *result.peaks.launch_microseconds);
  }
  return fmt::format(
      "floors: arithmetic {:.2f} ms, memory {:.2f} ms ({:.3f} GB at {:.1f} GB/s), latency {}; "
      "{:.0f} % of the floor",
      floors.arithmetic_milliseconds, floors.memory_milliseconds, result.counts.gigabytes,
      result.peaks.gigabytes_per_second, latency, 100 * result.share_of_floor);
}

std::string table(const BenchResult& result, const std::vector<PeerRate>& peers) {
  std::string out = fmt::format(
      "{}: batch {}, {}, {} trainable parameters\n"
      "  {:.1f} images/s (windows {:.1f} to {:.1f}), {:.2f} ms a step\n"
      "  passes: forward {:.2f} ms, backward {:.2f} ms, update {:.2f} ms\n"
      "  {}\n"
      "  {}\n"
      "  first step after {:.2f} s, peak memory {:.0f} MiB, loss {:.4f}\n",
      result.network, result.batch, result.device, with_separators(result.parameters),
      result.images_per_second, result.low, result.high, result.step_milliseconds,
      result.forward_milliseconds, result.backward_milliseconds, result.update_milliseconds,
      arithmetic_text(result), floors_text(result), result.first_step_seconds, result.peak_mib,
      result.loss);
  for (const PeerRate& peer : peers) {
    out += fmt::format("  beside {}: {:.1f} images/s, ratio {:.2f}\n", peer.name,
                       peer.images_per_second, result.images_per_second / peer.images_per_second);
  }
  for (const StepTime& layer : result.layers) {
    out += fmt::format("  {:9.3f} ms  {:5.1f} %  {}\n", 1e3 * layer.seconds,
                       1e5 * layer.seconds / result.step_milliseconds, layer.name);
  }
  return out;
}

}  // namespace

void declare_bench(CLI::App& app, const Surroundings& surroundings, Action& action) {
  auto flags = std::make_shared<BenchFlags>();  // shared with the action, which outlives parsing
  add_run_flags(app, flags->run);
  app.add_option("--batch", flags->options.batch, "samples a step")->check(CLI::Range(1, 1 << 20));
  app.add_option("--windows", flags->options.windows, "timed windows; the median is reported")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", flags->options.window_seconds, "length of a window")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_flag("--layers", flags->options.layers, "time each step of the plan");
  app.add_option("--compare", flags->compare,
                 "JSON lines of a peer's rates, for this network and batch, to stand beside ours");
  app.add_flag("--json", flags->json, "one JSON line instead of the table");
  action = [flags, surroundings] {
    flags->options.device = device_choice(flags->run);
    RunConfig run = read_config(flags->run);
    std::vector<PeerRate> peers;
    if (!flags->compare.empty()) {
      peers = read_peer_rates(flags->compare, run.name, flags->options.batch);
    }
    const BenchResult result =
        bench(std::move(run), flags->options, surroundings.now, surroundings.started);
    std::fputs((flags->json ? json_row(result, peers) : table(result, peers)).c_str(), stdout);
    return 0;
  };
}

}  // namespace trainyard::cli
