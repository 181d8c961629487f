#include "run/trainer.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "run/evaluator.h"

namespace trainyard {
namespace {

double mean_metric(const Totals& totals, std::size_t index) {
  return totals.metrics[index] / static_cast<double>(totals.samples);
}

double mean_loss(const Totals& totals) { return totals.loss / static_cast<double>(totals.samples); }

}  // namespace

Trainer::Trainer(const TrainerParts& parts, const TrainerOptions& options, TrainingState state)
    : parts_(parts), options_(options), state_(std::move(state)) {}

Outcome Trainer::run() {
  started_ = parts_.now() - state_.elapsed_seconds;
  while (state_.epoch < options_.epochs) {
    if (const auto reason = train_epoch()) {
      state_.elapsed_seconds = elapsed();
      if (!saved_) parts_.save(state_, false);
      return *reason;
    }
    finish_epoch();
    if (options_.patience > 0 && state_.epochs_since_best >= options_.patience) {
      return Outcome::stopped_early;
    }
  }
  return Outcome::completed;
}

std::optional<Outcome> Trainer::train_epoch() {
  parts_.train.start(static_cast<std::uint32_t>(state_.epoch),
                     state_.step_in_epoch * options_.accumulate);
  epoch_started_ = parts_.now();
  epoch_first_step_ = state_.step_in_epoch;
  const std::int64_t steps = parts_.train.steps_per_epoch() / options_.accumulate;
  while (true) {
    if (const auto reason = parts_.stop_reason(state_)) return reason;
    if (state_.step_in_epoch >= steps) return std::nullopt;
    train_step();
    if (options_.save_every_steps > 0 && state_.step % options_.save_every_steps == 0) {
      state_.elapsed_seconds = elapsed();
      parts_.save(state_, false);
      saved_ = true;
    }
  }
}

void Trainer::forward_backward() {
  Program& program = parts_.model.train();
  if (!options_.eager) return program.run();
  if (program.run_checked()) report_divergence();
}

void Trainer::train_step() {
  Model& model = parts_.model;
  StepState& step_state = *model.memory().state();
  step_state.epoch = state_.epoch;
  parts_.updater.begin();
  Totals& totals = step_totals_;
  totals.clear();
  for (std::int64_t micro = 0; micro < options_.accumulate; ++micro) {
    model.load(parts_.train.next());
    forward_backward();
    model.add_totals(model.train(), totals);
    if (!std::isfinite(totals.loss)) report_divergence();
    parts_.updater.accumulate(micro);
  }
  const UpdateResult update = parts_.updater.apply();
  if (!update.finite) report_divergence();
  saved_ = false;
  ++state_.step;
  ++state_.step_in_epoch;
  state_.rate = update.rate;
  state_.gradient_norm_sum += update.gradient_norm;
  state_.totals.loss += totals.loss;
  state_.totals.samples += totals.samples;
  state_.totals.metrics.resize(totals.metrics.size());
  for (std::size_t i = 0; i < totals.metrics.size(); ++i) {
    state_.totals.metrics[i] += totals.metrics[i];
  }
  const double seconds = parts_.now() - epoch_started_;
  const std::int64_t done = state_.step_in_epoch - epoch_first_step_;
  parts_.sink.on_step({.step = state_.step,
                       .epoch = state_.epoch + 1,
                       .loss = mean_loss(totals),
                       .lr = update.rate,
                       .grad_norm = update.gradient_norm,
                       .elapsed_s = elapsed(),
                       .images_per_s = static_cast<double>(done * totals.samples) / seconds});
}

/// The update was withheld, so the same batch with the same weights shows where it went wrong.
void Trainer::report_divergence() {
  std::string message = "training diverged at step " + std::to_string(state_.step + 1) +
                        " (epoch " + std::to_string(state_.epoch + 1) + "): ";
  if (const auto culprit = parts_.model.train().run_checked()) {
    if (culprit->where.known()) message = culprit->where.text() + ": " + message;
    message += "layer '" + culprit->path + "': its " + culprit->what + " is not finite";
  } else {
    message += "the sum of the gradients is not finite";
  }
  throw Error(ErrorKind::diverged,
              message + "; lower the learning rate, add a warm-up or set 'clip_norm'");
}

bool Trainer::judge(double value) {
  const bool first = state_.best_epoch == 0;
  const Judge& rule = options_.judge;
  const bool better = rule.larger_is_better ? value > state_.best_value + rule.min_delta
                                            : value < state_.best_value - rule.min_delta;
  if (!std::isfinite(value) || !(first || better)) {
    ++state_.epochs_since_best;
    return false;
  }
  state_.best_value = value;
  state_.best_epoch = state_.epoch;
  state_.epochs_since_best = 0;
  return true;
}

EpochRow Trainer::training_row() {
  const double seconds = parts_.now() - epoch_started_;
  const std::int64_t samples_a_step = parts_.model.memory().batch() * options_.accumulate;
  const std::int64_t trained = (state_.step_in_epoch - epoch_first_step_) * samples_a_step;
  EpochRow row{.epoch = state_.epoch + 1,
               .step = state_.step,
               .samples = state_.step * samples_a_step,
               .loss = mean_loss(state_.totals),
               .lr = state_.rate,
               .grad_norm = state_.gradient_norm_sum / static_cast<double>(state_.step_in_epoch),
               .images_per_s = seconds > 0 ? static_cast<double>(trained) / seconds : 0};
  if (parts_.updater.has_regularisation()) {
    row.reg_loss = parts_.updater.regularisation_loss();
    row.total_loss = row.loss + *row.reg_loss;
  }
  return row;
}

void Trainer::finish_epoch() {
  EpochRow row = training_row();
  const Totals val = evaluate(parts_.model, parts_.val);
  row.val_loss = mean_loss(val);
  for (std::size_t i = 0; i < options_.metric_names.size(); ++i) {
    row.metrics.push_back({.name = options_.metric_names[i],
                           .training = mean_metric(state_.totals, i),
                           .validation = mean_metric(val, i)});
  }
  ++state_.epoch;
  const int metric = options_.judge.metric;
  row.is_best = judge(metric < 0 ? *row.val_loss : *row.metrics[metric].validation);
  row.elapsed_s = state_.elapsed_seconds = elapsed();
  row.epoch_s = parts_.now() - epoch_started_;
  state_.step_in_epoch = 0;
  state_.totals = Totals{};
  state_.gradient_norm_sum = 0;
  parts_.sink.on_epoch(row);
  const bool last = state_.epoch == options_.epochs;
  const bool due = options_.save_every_epochs > 0 && state_.epoch % options_.save_every_epochs == 0;
  if (due || last || row.is_best) {
    parts_.save(state_, row.is_best);
    saved_ = true;
  }
}

double Trainer::elapsed() const { return parts_.now() - started_; }

}  // namespace trainyard
