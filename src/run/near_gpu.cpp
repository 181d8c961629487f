#include "run/near_gpu.h"

#include <algorithm>

#include "base/numa.h"
#include "base/parallel.h"

namespace trainyard {

int stay_near(const GpuFinding& gpu, int threads,
              const std::function<void(const std::string&)>& warn,
              const std::filesystem::path& root) {
  if (!gpu.numa_node) return threads;
  const int before = available_cores();
  const std::string problem = stay_on_node(*gpu.numa_node, root);
  if (!problem.empty()) {
    warn("cuda:" + std::to_string(gpu.ordinal) + " is on NUMA node " +
         std::to_string(*gpu.numa_node) + ", where this process cannot be: " + problem +
         "; batches that the host makes reach it more slowly");
  }
  const int after = available_cores();
  return after < before ? std::min(threads, after) : threads;
}

}  // namespace trainyard
