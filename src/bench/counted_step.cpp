#include "bench/counted_step.h"

#include <algorithm>

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

}  // namespace trainyard
