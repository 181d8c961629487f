#include "optim/update_launches.h"

#include "launcher/launch.h"
#include "optim/update_launches_on.h"

namespace trainyard {

std::unique_ptr<UpdateLaunches> make_cpu_update_launches(int threads) {
  return std::make_unique<UpdateLaunchesOn<CpuLauncher>>(CpuLauncher(threads));
}

}  // namespace trainyard
