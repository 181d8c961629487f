#include "counted/counted_gpu.h"
#include "counted/counting_launcher.h"
#include "optim/update_launches_on.h"

namespace trainyard::counted {

std::unique_ptr<UpdateLaunches> make_counted_updates(LaunchLog& log) {
  return std::make_unique<UpdateLaunchesOn<CountingLauncher>>(CountingLauncher(log));
}

}  // namespace trainyard::counted
