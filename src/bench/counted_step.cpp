#include "bench/counted_step.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "bench/step_runner.h"
#include "counted/counted_gpu.h"

namespace trainyard {

std::vector<counted::Launch> count_step(const RunConfig& run, const TrainingGraph& graph,
                                        const Target& target) {
  counted::Gpu gpu;
  StepRunner runner(run, graph, 1, {.compute = gpu.compute(), .target = target});
  for (int step = 0; step < 2; ++step) runner.step();  // the second one is recorded
  for (const counted::Launch& launch : gpu.recorded()) {
    TY_CHECK(launch.bytes.has_value(),
             launch.functor + " is in no step of the plan: it needs its line in moved_bytes.h");
  }
  return gpu.recorded();
}

std::vector<std::vector<counted::Launch>> count_parts(const RunConfig& run,
                                                      const TrainingGraph& graph,
                                                      const Target& target) {
  counted::Gpu gpu;
  StepRunner runner(run, graph, 1, {.compute = gpu.compute(), .target = target});
  runner.step();
  std::vector<std::vector<counted::Launch>> parts;
  for (const StepPart& part : runner.parts()) {
    static_cast<void>(gpu.compute().device.record(*part.queue, part.work));
    parts.push_back(gpu.recorded());
  }
  return parts;
}

NodeCounts node_counts(const std::vector<counted::Launch>& launches) {
  NodeCounts counts{.nodes = launches.size()};
  for (const counted::Launch& launch : launches) {
    auto found = std::ranges::find(counts.kinds, launch.kind, &KindCount::kind);
    if (found == counts.kinds.end()) {
      found = counts.kinds.insert(found, KindCount{.kind = launch.kind, .functors = {}});
    }
    ++found->nodes;
    if (!launch.functor.empty()) ++found->functors[launch.functor];
    if (launch.library) continue;
    found->bytes += launch.bytes.value_or(0);
    counts.own_bytes += launch.bytes.value_or(0);
  }
  std::ranges::sort(counts.kinds, [](const KindCount& a, const KindCount& b) {
    return a.nodes != b.nodes ? a.nodes > b.nodes : a.kind < b.kind;
  });
  return counts;
}

double GpuRates::gflops(const Target& target) const {
  if (target.storage != DType::f32) return gflops_16;
  return target.tf32 ? gflops_tf32 : gflops_f32;
}

std::span<const GpuRates> known_gpu_rates() {
  static constexpr std::array<GpuRates, 4> kRates{{
      {.name = "H200",
       .gigabytes_per_second = 4300,
       .gflops_16 = 790e3,
       .gflops_tf32 = 395e3,
       .gflops_f32 = 60e3,
       .source = "memory and 16 bits measured by copies and by products of noise; TF32 half of "
                 "that; f32 0.9 of NVIDIA's 67 TFLOP/s"},
      {.name = "H100",
       .gigabytes_per_second = 3010,
       .gflops_16 = 800e3,
       .gflops_tf32 = 414e3,
       .gflops_f32 = 51.7e3,
       .source = "80 GB HBM3, SXM: measured by copies and by products"},
      {.name = "A100",
       .gigabytes_per_second = 1835,
       .gflops_16 = 281e3,
       .gflops_tf32 = 140e3,
       .gflops_f32 = 17.5e3,
       .source = "80 GB, SXM: 0.9 of NVIDIA's 2,039 GB/s and 312, 156 and 19.5 TFLOP/s"},
      {.name = "RTX 4090",
       .gigabytes_per_second = 907,
       .gflops_16 = 149e3,
       .gflops_tf32 = 74e3,
       .gflops_f32 = 74e3,
       .source = "0.9 of NVIDIA's 1,008 GB/s and 165.2 (sums in f32), 82.6 and 82.6 TFLOP/s"},
  }};
  return kRates;
}

// Fitted by scripts/gpu_kit/fit_rates.sh to the nodes of ResNet-20, MiniGoogLeNet and Keras's CNN,
// each alone and warm on an H200, in bf16 at batch 128 (docs/results/h200/layers.jsonl); the last
// one is the mean of the small nodes that have no row.
std::span<const NodeRate> node_rates() {
  static constexpr std::array<NodeRate, 17> kRates{{
      {"bn", "BatchMoments", false, 5.9, 0.92},
      {"bn", "GradientSums", false, 6.1, 0.72},
      {"bn", "NormaliseRows", false, 1.2, 0.54},
      {"bn", "InputGradientRows", false, 0, 0.39},
      {"convolution", "NarrowConv", false, 2.9, 0.42},
      {"convolution", "", false, 4.8, 0.47},
      {"convolution", "", true, 16.2, 0.46},
      {"product", "", false, 3.3, 0.71},
      {"product", "", true, 4.6, 1},
      {"max_pool", "MaxPoolWindow", false, 1.3, 0.45},
      {"max_pool", "MaxPoolGradient", false, 0, 0.175},
      {"avg_pool", "", false, 11.2, 1},
      {"bias", "AddBiasRows", false, 1.3, 0.9},
      {"relu", "ReluBiasRows", false, 3.6, 0.92},
      {"dropout", "DrawnChannels", false, 2.9, 0.33},
      {"reorder", "PaddingZeros", false, 7.2, 1},
      {"", "", false, 2.2, 1},
  }};
  return kRates;
}

const NodeRate& rate_of(const counted::Launch& launch) {
  const std::span<const NodeRate> rates = node_rates();
  const auto own = std::ranges::find_if(rates, [&](const NodeRate& rate) {
    return rate.kind == launch.kind && rate.on_side_queue == launch.on_side_queue &&
           (rate.functor.empty() || rate.functor == launch.functor);
  });
  return own == rates.end() ? rates.back() : *own;
}

double predicted_milliseconds(const std::vector<counted::Launch>& launches, const Target& target,
                              const GpuRates& gpu) {
  double microseconds = 0;
  for (const counted::Launch& launch : launches) {
    const double memory =
        1e-3 * static_cast<double>(launch.bytes.value_or(0)) / gpu.gigabytes_per_second;
    const double arithmetic = 1e-3 * launch.flop / gpu.gflops(target);
    const NodeRate& rate = rate_of(launch);
    microseconds += rate.microseconds + std::max(memory, arithmetic) / rate.share;
  }
  return 1e-3 * microseconds;
}

}  // namespace trainyard
