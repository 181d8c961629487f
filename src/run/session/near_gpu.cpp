#include "run/session/near_gpu.h"

#include "base/numa.h"

namespace trainyard {

void stay_near(const GpuFinding& gpu, const std::function<void(const std::string&)>& warn,
               const std::filesystem::path& root) {
  if (!gpu.numa_node) return;
  const std::string problem = stay_on_node(*gpu.numa_node, root);
  if (problem.empty()) return;
  warn("cuda:" + std::to_string(gpu.ordinal) + " is on NUMA node " +
       std::to_string(*gpu.numa_node) + ", where this process cannot run: " + problem +
       "; batches made by the host reach it more slowly");
}

}  // namespace trainyard
