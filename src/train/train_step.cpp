#include "train/train_step.h"

#include <utility>

namespace trainyard {

TrainStep::TrainStep(Model& model, Communicator& communicator, const Optimizer& optimizer,
                     const Schedule* schedule, const ScheduleContext& context,
                     const StepOptions& options)
    : model_(model),
      communicator_(communicator),
      rates_(model.compute(), schedule, context, options.lookahead),
      reducer_(model, communicator,
               {.accumulate = options.accumulate,
                .shards = options.shards,
                .transport = options.transport,
                .buckets = options.buckets}),
      results_(model.compute(), model.programs().sizes.results, options.results),
      optimizer_step_(
          model, optimizer,
          {.clip_norm = options.clip_norm,
           .loss_scale = options.loss_scale,
           .parameters = options.parameters,
           .samples = static_cast<double>(reducer_.samples()),
           .of_step = reducer_.of_step(),
           .next = begin(),
           .alone = communicator.size() == 1 && options.accumulate == 1 && options.shards == 0},
          {.rows = results_.rows(), .width = results_.width(), .capacity = results_.capacity()}),
      recorded_(recorded()) {
  record_again();
  start_at({.loss_scale = options.loss_scale.start});
}

TrainStep::Recorded TrainStep::recorded() const {
  if (reducer_.recordable()) return Recorded::whole;
  return syncs_batch_norms(model_.planned_graph()) ? Recorded::nothing : Recorded::around_sums;
}

RepeatedWork TrainStep::repeated(std::function<void()> work) {
  return {model_.compute().device, model_.compute().queue, std::move(work)};
}

void TrainStep::record_again() {
  recordings_.clear();
  if (recorded_ == Recorded::whole) {
    for (std::int64_t pass = 0; pass < passes(); ++pass) {
      recordings_.push_back(repeated([this, pass] { enqueue(pass); }));
    }
  } else if (recorded_ == Recorded::around_sums) {
    recordings_.push_back(repeated([this] {
      forward();
      backward();
    }));
    recordings_.push_back(repeated([this] { update(); }));
  }
}

void TrainStep::run(const NextBatch& next) {
  prepare();
  for (std::int64_t pass = 0; pass < passes(); ++pass) {
    if (next) load(next);
    run_pass(pass);
  }
  report();
}

void TrainStep::run_checked(const NextBatch& next, const Judge& judge) {
  prepare();
  for (std::int64_t pass = 0; pass < passes(); ++pass) {
    load(next);
    judge(check());
    reduce(pass);
    if (is_last(pass)) update();
  }
  report();
}

void TrainStep::run_by(const std::function<void()>& pass) {
  prepare();
  pass();
  report();
}

void TrainStep::run_pass(std::int64_t pass) {
  if (recorded_ == Recorded::nothing) return enqueue(pass);
  if (recorded_ == Recorded::whole) {
    return recordings_[static_cast<std::size_t>(pass)].run(model_.batch_slot());
  }
  recordings_.front().run(model_.batch_slot());
  reduce(pass);
  if (is_last(pass)) recordings_.back().run();
}

void TrainStep::enqueue(std::int64_t pass) {
  forward();
  backward();
  reduce(pass);
  if (is_last(pass)) update();
}

void TrainStep::prepare() {
  if (rates_.prepare(tried_)) model_.compute().launches.begin(begin());
}

void TrainStep::load(const NextBatch& next) { model_.load(next()); }

void TrainStep::forward() {
  model_.take_batch(EvaluatedSplit::training);
  model_.train().forward();
}

void TrainStep::backward() {
  Program& program = model_.train();
  std::size_t done = program.backward_begin();
  for (const GradientBucket& bucket : reducer_.overlapped()) {
    program.run(done, bucket.steps);
    reducer_.reduce_next_bucket();
    done = bucket.steps;
  }
  program.run(done, program.plan().steps.size());
}

std::optional<NonFinite> TrainStep::check() {
  model_.take_batch(EvaluatedSplit::training);
  return model_.train().run_checked(model_.compute().queue);
}

void TrainStep::reduce(std::int64_t pass) {
  if (!optimizer_step_.sums_results()) model_.add_results(model_.train());
  reducer_.reduce(pass);
}

void TrainStep::update() { optimizer_step_.apply(); }

void TrainStep::report() {
  ++tried_;
  // Every rank has loaded the same number: training batches are full.
  results_.add(model_.take_samples() * communicator_.size());
}

std::size_t TrainStep::launches() const {
  std::size_t nodes = 0;
  for (const RepeatedWork& work : recordings_) nodes += work.nodes();
  return nodes;
}

void TrainStep::start_at(const StepPosition& position) {
  Queue& queue = model_.compute().queue;
  StepState* const state = model_.memory().state();
  const auto write = [&](auto* field, const auto& value) {
    queue.copy_from_host(field, &value, sizeof value);
  };
  write(&state->tried, position.tried);
  write(&state->step, position.finished);
  optimizer_step_.start_at(position.finished);
  write(&state->loss_scale, position.loss_scale);
  write(&state->good_steps, position.good_steps);
  tried_ = position.tried;
  rates_.reset();
  results_.start_at(position.tried);
}

StepPosition TrainStep::position() const {
  StepState state;
  Queue& queue = model_.compute().queue;
  queue.copy_to_host(&state, model_.memory().state(), sizeof state);
  queue.wait();
  return {.tried = state.tried,
          .finished = state.step,
          .loss_scale = state.loss_scale,
          .good_steps = state.good_steps};
}

BeginUpdate TrainStep::begin() const {
  return {.state = model_.memory().state(),
          .window = rates_.data(),
          .samples = static_cast<double>(reducer_.samples())};
}

}  // namespace trainyard
