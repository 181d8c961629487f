#include "run/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/augment/whitening.h"
#include "graph/network_input.h"
#include "run/config/best_metric_choice.h"
#include "run/config/layer_overrides.h"
#include "run/session/session_model.h"

namespace trainyard {

namespace {

/// Which copy of the weights is evaluated, if there are two.
std::string copies_text(const RunConfig& config) {
  if (!config.average) return "";
  const std::string kind = fmt::format("(ema {})", config.average->ema);
  return config.average->judged == AverageConfig::Judged::average
             ? "their average " + kind + " is evaluated and saved"
             : "evaluated and saved as trained, not their average " + kind;
}

}  // namespace

Session::Session(RunConfig run, const DeviceChoice& choice, const Statistics* known,
                 RankGroup& ranks, TimedAllReduce* measured)
    : run_(std::move(run)),
      metric_names_(trainyard::metric_names(run_)),
      device_(make_device(choice, run_, &ranks)),
      ranks_(ranks),
      measured_(measured),
      statistics_sum_(make_statistics_sum(device_ranks(), *device_.queue)),
      give_up_(device_.ranks.get()) {
  const std::int64_t replica = replica_batch(run_, ranks_.size());
  const std::int64_t shards = shards_of_rank(run_, ranks_.size());
  Graph network = build_network(run_, replica);
  require_whitenable(network);
  require_batch_variance(network, statistics_sum_ ? statistics_sum_->replicas() : 1);
  choice.begins(RunPhase::reading_data);
  data_ = open_data(run_, known, device_.threads, ranks_,
                    {.seed = static_cast<std::uint64_t>(run_.seed),
                     .cache_folder = choice.cache_folder,
                     .warn = choice.warn,
                     .check_all = choice.check_all,
                     .division = choice.division,
                     .form = choice.form},
                    choice.opened);
  require_fit(run_, network, *data_.train, *data_.pipeline);
  const TrainingGraph graph = training_graph_of(run_, std::move(network), data_.train->fields());
  place_data(run_.data, device_, replica, data_);
  make_feeders(run_, replica, graph, ranks_, data_);
  batch_ = batch_numbers(run_, ranks_.size(), data_.train->size());
  schedule_ = schedule_of(run_, batch_.global);
  const ScheduleContext context{
      .base = run_.optimizer->rate, .steps = batch_.all_steps, .steps_per_epoch = batch_.steps};
  if (schedule_) check_rates(*schedule_, context);
  if (run_.lookahead && run_.lookahead->schedule) {
    check_rates(*run_.lookahead->schedule, run_.lookahead->context_of(context));
  }
  choice.begins(RunPhase::building);
  model_ = std::make_unique<Model>(
      graph, device_.compute(),
      model_options(run_, device_, shards, statistics_sum_.get(), data_.val->size()));
  if (device_.relay && ranks_.rank() == 0) device_.relay->give(device_.executors->choices());
  if (data_.train_images) {
    model_->feed_from(*data_.train_images, *data_.images_of_val(), *data_.pipeline);
  }
  step_ =
      std::make_unique<TrainStep>(*model_, device_ranks(), *run_.optimizer, schedule_.get(),
                                  context, step_options(run_, device_, graph.graph, batch_.steps));
}

void Session::initialize() {
  model_->initialize(static_cast<std::uint64_t>(run_.seed), [this](const auto& of, auto values) {
    std::ranges::copy(whitening_filters(*data_.train, *data_.pipeline, of.shape.h(), of.shape.w(),
                                        of.initializer.value),
                      values.begin());
  });
}

Communicator& Session::device_ranks() {
  Communicator& ranks = device_.ranks ? *device_.ranks : ranks_.communicator();
  return measured_ == nullptr ? ranks : measured_->around(ranks);
}

Banner banner_of(Session& session) {
  const GraphTotals counts = totals(session.model().graph().graph);
  const BatchNumbers& batch = session.batch();
  const RunConfig& config = session.config();
  const std::string each = batch.ranks > 1 ? std::to_string(batch.ranks) + " ranks, each " : "";
  return {.seed = static_cast<std::uint64_t>(config.seed),
          .devices = each + session.device().text,
          .replica_batch = batch.replica,
          .replicas = batch.ranks,
          .shards = config.batch.shards.value_or(0),
          .accumulate = config.accumulate,
          .steps = batch.steps,
          .dropped = batch.dropped,
          .rate_factor = rate_factor(config, batch.global),
          .train_samples = session.data().train->size(),
          .val_samples = session.data().val->size(),
          .feeding = feeding_text(session.data(), session.device()),
          .parameters = counts.parameters_total,
          .copies = copies_text(config),
          .unit = std::string(sample_unit(session.model().graph().graph).brief)};
}

Reached reached_by(const Session& session, const TrainingState& state) {
  return {.epoch = state.epoch,
          .epochs = session.batch().epochs,
          .step_in_epoch = state.step_in_epoch,
          .steps = session.batch().steps,
          .step = state.step};
}

TrainerOptions trainer_options(const Session& session, bool unchanged, bool eager) {
  const RunConfig& config = session.config();
  const bool by_step = config.checkpoint_every.unit == Interval::Unit::step;
  const BatchNumbers& batch = session.batch();
  return {.epochs = batch.epochs,
          .last_steps = batch.all_steps - (batch.epochs - 1) * batch.steps,
          .save_every_epochs = by_step ? 0 : config.checkpoint_every.count,
          .save_every_steps = by_step ? config.checkpoint_every.count : 0,
          .clean_every_epochs = config.train_eval ? config.train_eval->epochs : 0,
          .patience = config.early_stop ? config.early_stop->patience : 0,
          .may_have_ended = unchanged,
          .best_metric = best_metric_of(config, session.metric_names()),
          .plateau = plateau_of(config, session.metric_names()),
          .check_weights = config.ranks.check_weights,
          .eager = eager};
}

}  // namespace trainyard
