#include "run/trainer.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "run/evaluator.h"

namespace trainyard {
namespace {

std::vector<double> means(const Totals& totals) {
  std::vector<double> list;
  for (const double sum : totals.metrics) {
    list.push_back(sum / static_cast<double>(totals.samples));
  }
  return list;
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
  Totals totals;
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
  parts_.observer.on_step(
      {.step = state_.step,
       .epoch = state_.epoch + 1,
       .step_in_epoch = state_.step_in_epoch,
       .loss = mean_loss(totals),
       .metrics = means(totals),
       .rate = update.rate,
       .gradient_norm = update.gradient_norm,
       .elapsed_seconds = elapsed(),
       .images_per_second = static_cast<double>(done * totals.samples) / seconds});
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

void Trainer::finish_epoch() {
  const double train_seconds = parts_.now() - epoch_started_;
  const std::int64_t steps = state_.step_in_epoch;
  const std::int64_t trained =
      (steps - epoch_first_step_) * parts_.model.memory().batch() * options_.accumulate;
  EpochResult result{.step = state_.step,
                     .loss = mean_loss(state_.totals),
                     .metrics = means(state_.totals),
                     .rate = state_.rate,
                     .gradient_norm = state_.gradient_norm_sum / static_cast<double>(steps),
                     .regularisation_loss = parts_.updater.regularisation_loss()};
  const Totals val = evaluate(parts_.model, parts_.val);
  result.val_loss = mean_loss(val);
  result.val_metrics = means(val);
  result.epoch = ++state_.epoch;
  result.samples = state_.epoch * state_.totals.samples;
  result.images_per_second = train_seconds > 0 ? static_cast<double>(trained) / train_seconds : 0;
  const int metric = options_.judge.metric;
  result.is_best = judge(metric < 0 ? result.val_loss : result.val_metrics[metric]);
  result.elapsed_seconds = state_.elapsed_seconds = elapsed();
  result.epoch_seconds = parts_.now() - epoch_started_;
  state_.step_in_epoch = 0;
  state_.totals = Totals{};
  state_.gradient_norm_sum = 0;
  parts_.observer.on_epoch(result);
  const bool last = state_.epoch == options_.epochs;
  const bool due = options_.save_every_epochs > 0 && state_.epoch % options_.save_every_epochs == 0;
  if (due || last || result.is_best) {
    parts_.save(state_, result.is_best);
    saved_ = true;
  }
}

double Trainer::elapsed() const { return parts_.now() - started_; }

}  // namespace trainyard
