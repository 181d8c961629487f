#include "data/feed/batch_launches.h"

#include "data/feed/batch_launches_on.h"
#include "launcher/launch.h"

namespace trainyard {

std::unique_ptr<BatchLaunches> make_cpu_batch_launches(int threads) {
  return std::make_unique<BatchLaunchesOn<CpuLauncher>>(CpuLauncher(threads));
}

}  // namespace trainyard
