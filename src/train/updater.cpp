#include "train/updater.h"

namespace trainyard {

Updater::Updater(Model& model, Communicator& communicator, const Optimizer& optimizer,
                 const Schedule* schedule, const ScheduleContext& context,
                 const StepOptions& options)
    : model_(model),
      communicator_(communicator),
      rates_(model.compute(), schedule, context),
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
          {.rows = results_.rows(), .width = results_.width(), .capacity = results_.capacity()}) {
  start_at({.loss_scale = options.loss_scale.start});
}

void Updater::start_at(const StepPosition& position) {
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

StepPosition Updater::position() const {
  StepState state;
  Queue& queue = model_.compute().queue;
  queue.copy_to_host(&state, model_.memory().state(), sizeof state);
  queue.wait();
  return {.tried = state.tried,
          .finished = state.step,
          .loss_scale = state.loss_scale,
          .good_steps = state.good_steps};
}

BeginUpdate Updater::begin() const {
  return {.state = model_.memory().state(),
          .window = rates_.data(),
          .samples = static_cast<double>(reducer_.samples())};
}

void Updater::prepare() {
  if (rates_.prepare(tried_)) model_.compute().launches.begin(begin());
}

void Updater::add_results() {
  if (!optimizer_step_.sums_results()) model_.add_results(model_.train());
}

void Updater::end_pass(std::int64_t index) {
  reducer_.end_pass(index);
  if (index == reducer_.passes() - 1) optimizer_step_.apply();
}

void Updater::apply() {
  reducer_.publish_results();
  optimizer_step_.apply();
}

void Updater::finish() {
  ++tried_;
  // Every rank has loaded the same number: training batches are full.
  results_.add(model_.take_samples() * communicator_.size());
}

}  // namespace trainyard
