#include "run/run_start.h"

#include "run/new_run.h"
#include "run/resumed_run.h"

namespace trainyard {

std::unique_ptr<RunStart> make_start(TrainingRequest& request) {
  if (request.resume.empty()) return std::make_unique<NewRun>(request);
  return std::make_unique<ResumedRun>(request);
}

}  // namespace trainyard
