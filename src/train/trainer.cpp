#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace trainyard {
namespace {

std::vector<double> metrics_of(const Model& model, const Totals& totals) {
  return metric_values(model.graph(), totals.metrics, totals.samples);
}

constexpr Operation kTraining{"training"};
constexpr Operation kEvaluation{"evaluation"};

}  // namespace

Trainer::Trainer(const TrainerParts& parts, const TrainerOptions& options, TrainingState state)
    : parts_(parts),
      options_(options),
      state_(std::move(state)),
      model_(parts.step.model()),
      validation_(model_, parts.val, parts.ranks.communicator()),
      busy_([this] { return parts_.host.gpu_busy_percent(); }),
      accuracy_sum_(sum_of_metric(model_.graph(), "accuracy")) {
  if (parts.clean == nullptr) return;
  clean_.emplace(model_, *parts.clean, parts.ranks.communicator(), EvaluatedSplit::training);
}

double Trainer::mean_loss(const Totals& totals) const {
  const double weight = total_weight(model_.graph(), totals.metrics, totals.samples);
  return totals.loss / weight;
}

Outcome Trainer::run() {
  started_ = parts_.host.now() - state_.elapsed_seconds;
  follow_plateau();
  if (options_.may_have_ended && has_waited()) return Outcome::stopped_early;
  while (state_.epoch < options_.epochs) {
    if (const auto reason = train_epoch()) {
      state_.elapsed_seconds = elapsed();
      if (!saved_) parts_.host.save(state_, false);
      // Many launchers kill all ranks once a signal has ended one: rank 0 must have saved by then.
      parts_.ranks.communicator().barrier();
      return *reason;
    }
    finish_epoch();
    if (has_waited()) return Outcome::stopped_early;
  }
  return Outcome::completed;
}

std::optional<Outcome> Trainer::train_epoch() {
  parts_.train.start(static_cast<std::uint32_t>(state_.epoch),
                     state_.step_in_epoch * parts_.step.passes());
  epoch_started_ = parts_.host.now();
  epoch_first_step_ = state_.step_in_epoch;
  busy_.start(epoch_started_);
  const std::int64_t steps = steps_of_epoch();
  model_.set_epoch(state_.epoch);
  while (true) {
    const bool done = state_.step_in_epoch >= steps;
    const auto reason = parts_.host.stop_reason(state_, done || state_.step_in_epoch == 0);
    if (reason || done) {
      take_results();
      return reason;
    }
    train_step();
    if (options_.check_weights > 0 && state_.step % options_.check_weights == 0) compare_ranks();
    if (options_.save_every_steps > 0 && state_.step % options_.save_every_steps == 0) {
      take_results();
      state_.elapsed_seconds = elapsed();
      parts_.host.save(state_, false);
      saved_ = true;
    }
  }
}

void Trainer::judge_pass(const std::optional<NonFinite>& found) {
  const Culprit culprit = first_of_ranks(found);
  if (culprit.text.empty() || is_skipped(culprit)) return;
  take_results();
  report_divergence(state_.step, culprit, nullptr);
}

bool Trainer::is_skipped(const Culprit& culprit) const {
  const std::vector<PlanStep>& steps = model_.train().plan().steps;
  return parts_.step.optimizer_step().skips_overflow() &&
         steps[culprit.step].pass != Pass::forward_train;
}

void Trainer::compare_ranks() {
  if (parts_.ranks.size() == 1) return;
  require_equal_models(model_hash(model_, compared_), parts_.ranks, state_.step);
}

void Trainer::begin(const Operation& operation, RunPhase phase) {
  parts_.ranks.progress(state_.step, operation);
  parts_.host.begin(phase);
}

void Trainer::train_step() {
  begin(kTraining, RunPhase::training);
  const auto next = [this]() -> const Batch& { return parts_.train.next(); };
  if (options_.eager) {
    parts_.step.run_checked(next, [this](const auto& found) { judge_pass(found); });
  } else {
    parts_.step.run(next);
  }
  saved_ = false;
  ++state_.step;
  ++state_.step_in_epoch;
  if (!parts_.step.results().full()) return;
  const std::int64_t taken = state_.step - parts_.step.results().pending();
  note_steps(taken, parts_.step.results().take_oldest());
}

void Trainer::take_results() {
  if (parts_.step.results().pending() == 0) return;
  const std::int64_t taken = state_.step - parts_.step.results().pending();
  note_steps(taken, parts_.step.results().take_all());
}

void Trainer::note_steps(std::int64_t step, std::span<const StepResult> results) {
  for (const StepResult& result : results) {
    const std::string fault = result.skipped ? "" : loss_limit_.fault(mean_loss(result.totals));
    if (!result.finite || !fault.empty()) {
      Culprit culprit = first_of_ranks(find_nonfinite(step));
      // If the loss was finite, the weights have changed since; rerunning may still name a layer.
      if (result.finite)
        culprit.text = fault + (culprit.text.empty() ? "" : "; now " + culprit.text);
      report_divergence(step, culprit, &result);
    }
    note_step(++step, result);
  }
  busy_.read_if_due(parts_.host.now());
}

void Trainer::note_step(std::int64_t step, const StepResult& result) {
  state_.rate = result.rate;
  if (result.skipped) {
    ++state_.skipped_steps;
    state_.totals.metrics.resize(result.totals.metrics.size());
  } else {
    state_.gradient_norm_sum += result.gradient_norm;
    state_.totals.add(result.totals);
  }
  const double seconds = parts_.host.now() - epoch_started_;
  const std::int64_t done = state_.step_in_epoch - epoch_first_step_;
  const bool counts = counted(result.totals) > 0;
  parts_.sink.on_step({.step = step,
                       .epoch = state_.epoch + 1,
                       .loss = counts ? std::optional(mean_loss(result.totals)) : std::nullopt,
                       .accuracy = counts ? accuracy_of(result.totals) : std::nullopt,
                       .lr = result.rate,
                       .grad_norm = result.gradient_norm,
                       .loss_scale = parts_.step.optimizer_step().scales_loss()
                                         ? std::optional(result.loss_scale)
                                         : std::nullopt,
                       .elapsed_s = elapsed(),
                       .images_per_s = static_cast<double>(done * result.totals.samples) / seconds,
                       .data_wait_percent = data_wait_percent()});
}

std::optional<NonFinite> Trainer::find_nonfinite(std::int64_t step) {
  const std::int64_t passes = parts_.step.passes();
  const std::int64_t step_in_epoch = state_.step_in_epoch - (state_.step - step);
  parts_.train.start(static_cast<std::uint32_t>(state_.epoch), step_in_epoch * passes);
  std::optional<NonFinite> first;
  // Run all passes, as the other ranks do.
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    parts_.step.load([this]() -> const Batch& { return parts_.train.next(); });
    auto found = parts_.step.check();
    if (!found || first) continue;
    found->step += static_cast<std::size_t>(pass) * model_.train().plan().steps.size();
    first = std::move(found);
  }
  return first;
}

Trainer::Culprit Trainer::first_of_ranks(const std::optional<NonFinite>& found) {
  Culprit own;
  if (found) {
    own = {.step = found->step,
           .where = found->where.text(),
           .text = "layer '" + found->path + "': its " + found->what + " is not finite"};
  }
  const std::vector<std::string> steps = parts_.ranks.gather(std::to_string(own.step));
  const std::vector<std::string> places = parts_.ranks.gather(own.where);
  const std::vector<std::string> texts = parts_.ranks.gather(own.text);
  Culprit first;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const std::size_t step = std::stoul(steps[rank]);
    if (texts[rank].empty() || (!first.text.empty() && step >= first.step)) continue;
    first = {.step = step, .where = places[rank], .text = texts[rank]};
  }
  return first;
}

void Trainer::report_divergence(std::int64_t step, const Culprit& culprit,
                                const StepResult* result) {
  Divergence divergence{
      .step = step,
      .epoch = state_.epoch,
      .where = culprit.where,
      .text = culprit.text.empty() ? "the sum of the gradients is not finite" : culprit.text,
      .scales_loss = parts_.step.optimizer_step().scales_loss()};
  if (result != nullptr) {
    divergence.loss = mean_loss(result->totals);
    divergence.rate = result->rate;
  }
  report(divergence);
}

bool Trainer::is_best(double value) {
  if (std::isnan(value)) return false;  // says nothing
  const bool first = state_.best_epoch == 0;
  const BestMetric& rule = options_.best_metric;
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

void Trainer::judge_plateau(const EpochRow& row) {
  if (!options_.plateau) return;
  const PlateauOptions& plateau = *options_.plateau;
  double value = plateau.of_training ? row.loss : *row.val_loss;
  if (plateau.metric >= 0) {
    const MetricValue& metric = row.metrics[static_cast<std::size_t>(plateau.metric)];
    value = plateau.of_training ? *metric.training : *metric.validation;
  }
  state_.plateau = after_epoch(plateau.rule, state_.plateau, value, parts_.step.last_rate());
  follow_plateau();
}

void Trainer::follow_plateau() {
  if (!options_.plateau) return;
  parts_.step.follow(state_.plateau, options_.plateau->rule.min_rate);
}

EpochRow Trainer::training_row() {
  const double seconds = parts_.host.now() - epoch_started_;
  const std::int64_t updates = state_.step_in_epoch - state_.skipped_steps;
  const std::int64_t trained = (state_.step_in_epoch - epoch_first_step_) * parts_.step.samples();
  EpochRow row{
      .epoch = state_.epoch + 1,
      .step = state_.step,
      .samples = (state_.epoch * steps_per_epoch() + state_.step_in_epoch) * parts_.step.samples(),
      .loss = mean_loss(state_.totals),
      .lr = state_.rate,
      .grad_norm = updates > 0
                       ? std::optional(state_.gradient_norm_sum / static_cast<double>(updates))
                       : std::nullopt,
      .skipped_steps = state_.skipped_steps,
      .earlier_steps = epoch_first_step_,
      .images_per_s = seconds > 0 ? static_cast<double>(trained) / seconds : 0,
      .gpu_util_percent = busy_.mean()};
  const long tenths = std::lround(10 * data_wait_percent());
  row.data_wait_percent = parts_.ranks.largest(static_cast<int>(tenths)) / 10.0;
  if (parts_.step.optimizer_step().has_regularisation()) {
    row.reg_loss = parts_.step.optimizer_step().regularisation_loss();
    row.total_loss = row.loss + *row.reg_loss;
  }
  return row;
}

double Trainer::data_wait_percent() const {
  const double seconds = parts_.host.now() - epoch_started_;
  return seconds > 0 ? std::min(100.0, 100 * parts_.train.waited_seconds() / seconds) : 0;
}

std::optional<double> Trainer::accuracy_of(const Totals& totals) const {
  if (!accuracy_sum_) return std::nullopt;
  return totals.metrics[static_cast<std::size_t>(*accuracy_sum_)] /
         static_cast<double>(counted(totals));
}

std::int64_t Trainer::counted(const Totals& totals) const {
  return counted_rows(model_.graph(), totals.metrics, totals.samples);
}

void Trainer::note_validation(std::int64_t batch) {
  begin(kEvaluation, RunPhase::evaluating);
  parts_.sink.on_validation(
      {.epoch = state_.epoch + 1, .batch = batch, .batches = parts_.val.batches_per_epoch()});
}

void Trainer::validate(EpochRow& row) {
  std::int64_t batch = 0;
  const Totals val = validation_.run([&] { note_validation(batch++); });
  std::vector<float> outputs;
  if (model_.output_rows() != nullptr) {
    outputs = take_outputs(model_, parts_.ranks.communicator());
    parts_.host.take(outputs);
  }
  row.val_loss = mean_loss(val);
  const std::vector<GraphMetric>& metrics = model_.graph().metrics;
  const std::vector<double> trained = metrics_of(model_, state_.totals);
  const std::vector<double> validated = metrics_of(model_, val);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    MetricValue value{
        .name = metrics[i].column, .training = trained[i], .validation = validated[i]};
    if (is_of_split(metrics[i])) {
      value.training.reset();
      parts_.host.judge(*metrics[i].op, outputs, value);
    }
    row.metrics.push_back(std::move(value));
  }
  row.counted = counted(state_.totals);
  row.val_counted = counted(val);
}

void Trainer::measure_clean(EpochRow& row) {
  if (!clean_ || row.epoch % options_.clean_every_epochs != 0) return;
  const Totals clean = clean_->run([this] { begin(kEvaluation, RunPhase::evaluating); });
  row.clean_loss = mean_loss(clean);
  const std::vector<double> values = metrics_of(model_, clean);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_of_split(model_.graph().metrics[i])) row.metrics[i].clean = values[i];
  }
}

void Trainer::finish_epoch() {
  EpochRow row = training_row();
  validate(row);
  measure_clean(row);
  ++state_.epoch;
  const int metric = options_.best_metric.metric;
  row.is_best = is_best(metric < 0 ? *row.val_loss : *row.metrics[metric].validation);
  judge_plateau(row);
  row.elapsed_s = state_.elapsed_seconds = elapsed();
  row.epoch_s = parts_.host.now() - epoch_started_;
  row.gpu_mem_mib = parts_.host.gpu_mem_mib();
  state_.step_in_epoch = 0;
  state_.skipped_steps = 0;
  state_.totals = Totals{};
  state_.gradient_norm_sum = 0;
  parts_.sink.on_epoch(row);
  epoch_watch_.look(row, [this](const std::string& text) { parts_.host.warn(text); });
  parts_.host.end_epoch(state_);
  const bool last = state_.epoch == options_.epochs;
  const bool due = options_.save_every_epochs > 0 && state_.epoch % options_.save_every_epochs == 0;
  if (due || last || row.is_best) {
    parts_.host.save(state_, row.is_best);
    saved_ = true;
  }
}

double Trainer::elapsed() const { return parts_.host.now() - started_; }

}  // namespace trainyard
