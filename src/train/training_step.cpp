#include "train/training_step.h"

#include <utility>

namespace trainyard {

TrainingStep::TrainingStep(Model& model, Updater& updater)
    : model_(model),
      updater_(updater),
      recorded_(updater.reducer().recordable()             ? Recorded::whole
                : syncs_batch_norms(model.planned_graph()) ? Recorded::nothing
                                                           : Recorded::around_sums) {
  if (recorded_ == Recorded::nothing) return;
  for (std::int64_t index = 0; index < updater.reducer().passes(); ++index) {
    if (recorded_ == Recorded::whole) {
      work_.push_back(repeated([this, index] { pass(index); }));
      continue;
    }
    work_.push_back(repeated([this, index] {
      model_.take_batch(EvaluatedSplit::training);
      run_program();
      end_program(index);
    }));
    behind_.push_back(repeated([this, index] { updater_.end_pass(index); }));
  }
}

RepeatedWork TrainingStep::repeated(std::function<void()> work) {
  return {model_.compute().device, model_.compute().queue, std::move(work)};
}

void TrainingStep::run(std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (recorded_ == Recorded::nothing) return pass(index);
  work_[at].run(model_.batch_place());
  if (recorded_ == Recorded::whole) return;
  updater_.reducer().all_reduce(index);
  behind_[at].run();
}

void TrainingStep::pass(std::int64_t index) {
  model_.take_batch(EvaluatedSplit::training);
  run_program();
  end(index);
}

void TrainingStep::run_program() {
  Program& program = model_.train();
  std::size_t done = 0;
  for (const GradientBucket& bucket : updater_.reducer().overlapped()) {
    program.run(done, bucket.steps);
    updater_.reducer().reduce_next_bucket();
    done = bucket.steps;
  }
  program.run(done, program.plan().steps.size());
}

void TrainingStep::end_program(std::int64_t index) {
  updater_.add_results();
  updater_.reducer().accumulate(index);
}

void TrainingStep::end(std::int64_t index) {
  end_program(index);
  updater_.reducer().all_reduce(index);
  updater_.end_pass(index);
}

std::optional<NonFinite> TrainingStep::check() {
  model_.take_batch(EvaluatedSplit::training);
  return model_.train().run_checked(model_.compute().queue);
}

std::size_t TrainingStep::launches(std::int64_t index) const {
  const auto at = static_cast<std::size_t>(index);
  if (recorded_ == Recorded::nothing) return 0;
  return work_[at].nodes() + (behind_.empty() ? 0 : behind_[at].nodes());
}

}  // namespace trainyard
