#include "cli/step_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/gpu_rates.h"

namespace trainyard::cli {
namespace {

double gigabytes(std::size_t bytes) { return 1e-9 * static_cast<double>(bytes); }

std::string kind_text(const KindCount& kind) {
  if (kind.bytes == 0) return fmt::format("{} {}", kind.kind, kind.nodes);
  return fmt::format("{} {} ({:.3f} GB)", kind.kind, kind.nodes, gigabytes(kind.bytes));
}

double gflop_of(const std::vector<counted::Launch>& launches) {
  double flop = 0;
  for (const counted::Launch& launch : launches) flop += launch.flop;
  return 1e-9 * flop;
}

Json gpu_json(const CountedStep& step, const GpuRates& gpu) {
  return {{"gpu", gpu.name},
          {"ms_per_step", predicted_milliseconds(step.launches, step.target, gpu)},
          {"node_us", kNodeMicroseconds},
          {"memory_gbyte_per_s", gpu.gigabytes_per_second},
          {"peak_gflops", gpu.gflops(step.target)},
          {"source", gpu.source}};
}

}  // namespace

std::string nodes_text(const NodeCounts& counts) {
  std::vector<std::string> kinds;
  for (const KindCount& kind : counts.kinds) kinds.push_back(kind_text(kind));
  return fmt::format("{} nodes, {:.3f} GB of own bytes: {}", counts.nodes,
                     gigabytes(counts.own_bytes), fmt::join(kinds, ", "));
}

Json nodes_json(const NodeCounts& counts) {
  Json kinds = Json::array();
  for (const KindCount& kind : counts.kinds) {
    kinds.push_back({{"kind", kind.kind}, {"nodes", kind.nodes}, {"own_bytes", kind.bytes}});
    for (const auto& [functor, nodes] : kind.functors) kinds.back()["functors"][functor] = nodes;
  }
  return {{"nodes", counts.nodes}, {"own_bytes", counts.own_bytes}, {"kinds", kinds}};
}

std::string prediction_text(const CountedStep& step) {
  std::vector<std::string> times;
  for (const GpuRates& gpu : known_gpu_rates()) {
    const double time = predicted_milliseconds(step.launches, step.target, gpu);
    times.push_back(fmt::format("{} {:.2f} ms", gpu.name, time));
  }
  return fmt::format(
      "a step of {} samples: {}\npredicted: {} ({} us a node, then its bytes or its operations at "
      "the GPU's rates, which --json lists)\n",
      step.batch, nodes_text(node_counts(step.launches)), fmt::join(times, ", "),
      kNodeMicroseconds);
}

std::string prediction_json(const CountedStep& step) {
  Json json{{"net", step.network},
            {"batch", step.batch},
            {"storage", name_of(step.target.storage)},
            {"gflop", gflop_of(step.launches)}};
  json.update(nodes_json(node_counts(step.launches)));
  json["predicted"] = Json::array();
  for (const GpuRates& gpu : known_gpu_rates()) json["predicted"].push_back(gpu_json(step, gpu));
  json["assumptions"] = {
      "a step is one recording, and each call of cuDNN or cuBLASLt is one node of it",
      "each node takes node_us, fitted to an H100, and then the longer of its bytes at the rate of "
      "the memory and its operations at the peak",
      "nothing is found in a cache, no two nodes run side by side, and every node reaches both "
      "rates",
      "images come from the host, and no engine adds a convolution's bias"};
  return json_text(json);
}

}  // namespace trainyard::cli
