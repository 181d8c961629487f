#include "cli/step_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
          {"memory_gbyte_per_s", gpu.gigabytes_per_second},
          {"peak_gflops", gpu.gflops(step.target)},
          {"source", gpu.source}};
}

Json rate_json(const NodeRate& rate) {
  return {{"kind", rate.kind},
          {"functor", rate.functor},
          {"beside", rate.on_side_queue},
          {"us", rate.microseconds},
          {"share", rate.share}};
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
      "a step of {} samples: {}\npredicted: {} (each node's latency, then its bytes or its "
      "operations at its share of the GPU's rates, which --json lists)\n",
      step.batch, nodes_text(node_counts(step.launches)), fmt::join(times, ", "));
}

std::string prediction_json(const CountedStep& step) {
  Json json{{"net", step.network},
            {"batch", step.batch},
            {"storage", name_of(step.target.storage)},
            {"gflop", gflop_of(step.launches)}};
  json.update(nodes_json(node_counts(step.launches)));
  json["predicted"] = Json::array();
  for (const GpuRates& gpu : known_gpu_rates()) json["predicted"].push_back(gpu_json(step, gpu));
  json["node_rates"] = Json::array();
  for (const NodeRate& rate : node_rates()) json["node_rates"].push_back(rate_json(rate));
  json["assumptions"] = {
      "a step is one recording, and each call of cuDNN or cuBLASLt is one node of it",
      "each node takes the us of its node_rates, and then the longer of its bytes at the rate of "
      "the "
      "memory and its operations at the peak, divided by its share",
      "node_rates are fitted to a profile of an H100 in bf16, and the same on every GPU and in "
      "every "
      "precision",
      "nodes of the side queue run at the same time as the others and do not slow them down",
      "images come from the host, and no engine adds a convolution's bias"};
  return json_text(json);
}

}  // namespace trainyard::cli
