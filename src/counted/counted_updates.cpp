#include "counted/counted_gpu.h"
#include "counted/counting_launcher.h"
#include "data/feed/batch_launches_on.h"
#include "optim/update_launches_on.h"

namespace trainyard::counted {

std::unique_ptr<UpdateLaunches> make_counted_updates(LaunchLog& log) {
  return std::make_unique<UpdateLaunchesOn<CountingLauncher>>(CountingLauncher(log));
}

std::unique_ptr<BatchLaunches> make_counted_batches(LaunchLog& log) {
  return std::make_unique<BatchLaunchesOn<CountingLauncher>>(CountingLauncher(log, "batch"));
}

}  // namespace trainyard::counted
