#include <fmt/format.h>

#include "cli/bench_scaling.h"

namespace trainyard::cli {
namespace {

/// In operations of the direct form.
double share_of_peak(const StepTime& layer, const BenchResult& result) {
  return layer.gflop / layer.seconds / result.peaks.gflops;
}

std::string line_of(const StepTime& layer, const BenchResult& result) {
  std::string line = fmt::format("  {:9.3f} ms  {:5.1f} %  {}", 1e3 * layer.seconds,
                                 1e5 * layer.seconds / result.step_milliseconds, layer.name);
  if (layer.gflop == 0) return line + "\n";
  if (!layer.algorithm.name.empty()) line += ", " + layer.algorithm.name;
  const double share = 100 * share_of_peak(layer, result);
  line += fmt::format(": {:.0f} % of the peak", share);
  if (layer.algorithm.operations < 1) {
    line += fmt::format(", {:.0f} % in executed operations", share * layer.algorithm.operations);
  }
  return line + "\n";
}

}  // namespace

std::string layers_text(const BenchResult& result) {
  std::string out;
  double products = 0, others = 0;
  for (const StepTime& layer : result.layers) {
    out += line_of(layer, result);
    (layer.gflop > 0 ? products : others) += 1e3 * layer.seconds;
  }
  if (result.layers.empty()) return out;
  return out + fmt::format("  products {:.2f} ms ({:.0f} %), all else {:.2f} ms ({:.0f} %)\n",
                           products, 100 * products / (products + others), others,
                           100 * others / (products + others));
}

std::string node_times_text(const BenchResult& result) {
  if (result.node_times.empty()) return "";
  std::string out;
  double sum = 0;
  for (const NodeTime& time : result.node_times) {
    const counted::Launch& launch = time.of.launch;
    const std::string what = launch.functor.empty() ? launch.kind : launch.functor;
    out += fmt::format("  {:9.2f} us  {}{}{}\n", time.microseconds, time.step,
                       what.empty() ? "" : ", " + what,
                       time.of.count > 1 ? fmt::format(", {} times", time.of.count) : "");
    sum += time.microseconds * static_cast<double>(time.of.count);
  }
  return out + fmt::format("  {:9.2f} us  all nodes one after the other, each warm\n", sum);
}

Json node_times_json(const BenchResult& result) {
  Json rows = Json::array();
  for (const NodeTime& time : result.node_times) {
    const counted::Launch& launch = time.of.launch;
    rows.push_back({{"step", time.step},
                    {"kind", launch.kind},
                    {"functor", launch.functor},
                    {"library", launch.library},
                    {"beside", launch.on_side_queue},
                    {"bytes", launch.bytes.value_or(0)},
                    {"flop", launch.flop},
                    {"nodes", time.of.nodes.count},
                    {"count", time.of.count},
                    {"microseconds", time.microseconds}});
  }
  return rows;
}

std::string spans_lines(const BenchResult& result) {
  std::string lines = json_line({{"net", result.network},
                                 {"batch", result.batch},
                                 {"device", result.device},
                                 {"ms_per_step", result.step_milliseconds}});
  for (std::size_t node = 0; node < result.spans.size(); ++node) {
    const StepSpan& span = result.spans[node];
    lines += json_line({{"node", node},
                        {"kind", span.kind},
                        {"functor", span.functor},
                        {"queue", span.queue},
                        {"begin_us", span.begin},
                        {"end_us", span.end},
                        {"gap_us", number_or_null(span.gap)},
                        {"calls_in_gap", span.calls}});
  }
  return lines;
}

Json layers_json(const BenchResult& result) {
  Json rows = Json::array();
  for (const StepTime& layer : result.layers) {
    Json row{{"step", layer.name}, {"ms", 1e3 * layer.seconds}};
    if (layer.gflop > 0) {
      row["gflop"] = layer.gflop;
      row["algorithm"] = layer.algorithm.name;
      row["share_of_peak"] = share_of_peak(layer, result);
      row["executed_share_of_peak"] = share_of_peak(layer, result) * layer.algorithm.operations;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace trainyard::cli
