// Run folders written by hand, for the tests of what reads them.
#pragma once

#include <string>

#include "../base/manual_clock.h"
#include "../base/temporary_folder.h"
#include "base/clock.h"
#include "report/status.h"

namespace trainyard::testing {

/// The clock of whoever reads the runs.
inline const ManualClock kLater(2'000'000'000);

/// A run of two epochs with this learning rate, and a status in `state`.
inline std::filesystem::path write_run(const TemporaryFolder& folder, const std::string& name,
                                       const std::string& rate, RunState state) {
  folder.write(name + "/config.yaml",
               "name: tiny\noptimizer: {sgd: {lr: " + rate + ", momentum: 0.9}}\nepochs: 3\n");
  folder.write(name + "/metrics.csv",
               "epoch,step,samples,loss,accuracy,val_loss,val_accuracy,lr,grad_norm,is_best,"
               "elapsed_s,images_per_s\n"
               "1,10,100,1.5,0.25,1.25,0.5,0.1,2,1,4,100\n"
               "2,20,200,1.25,0.5,1.75,0.375,0.1,,0,8.5,110\n");
  const bool ended = state > RunState::saving;
  folder.write(name + "/status.json",
               status_text({.state = state,
                            .exit_code = ended ? std::optional(state == RunState::failed ? 4 : 0)
                                               : std::nullopt,
                            .message = state == RunState::failed ? "no data" : "",
                            .host = "elsewhere",
                            .at = {.epoch = 2},
                            .epochs = 3,
                            .best = BestValue{"val_accuracy", 0.5, 1}}));
  return folder / name;
}

}  // namespace trainyard::testing
