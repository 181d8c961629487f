#include "run/training_step.h"

namespace trainyard {

TrainingStep::TrainingStep(Model& model, Updater& updater) : model_(model), updater_(updater) {
  for (std::int64_t index = 0; index < updater.passes(); ++index) {
    work_.emplace_back(model.compute().device, model.compute().queue, [this, index] {
      begin(index);
      run_program();
      end(index);
    });
  }
}

void TrainingStep::begin(std::int64_t index) {
  if (index == 0) updater_.begin();
  model_.place_training_images();
}

void TrainingStep::end(std::int64_t index) {
  model_.add_results(model_.train());
  updater_.accumulate(index);
  updater_.sum_over_ranks(index);
  updater_.end_pass(index);
}

void TrainingStep::run_program() {
  Program& program = model_.train();
  std::size_t done = 0;
  for (const GradientBucket& bucket : updater_.beside_backward()) {
    program.run(done, bucket.steps);
    updater_.sum_next_bucket();
    done = bucket.steps;
  }
  program.run(done, program.plan().steps.size());
}

std::optional<NonFinite> TrainingStep::check(std::int64_t index) {
  begin(index);
  return model_.train().run_checked(model_.compute().queue);
}

}  // namespace trainyard
