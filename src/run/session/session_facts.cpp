#include "run/session/session_facts.h"

#include <fmt/format.h>

#include <string>

#include "graph/network_input.h"
#include "run/config/batch_numbers.h"
#include "run/config/best_metric_choice.h"

namespace trainyard {

namespace {

/// Which copy of the weights is judged, if there are two.
std::string copies_text(const RunConfig& config) {
  if (!config.average) return "";
  const std::string kind = fmt::format("(ema {})", config.average->ema);
  return config.average->judged == AverageConfig::Judged::average
             ? "their average " + kind + " is judged and saved"
             : "judged and saved as trained, not their average " + kind;
}

}  // namespace

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
          .epochs = session.config().epochs,
          .step_in_epoch = state.step_in_epoch,
          .steps = session.batch().steps,
          .step = state.step};
}

TrainerOptions trainer_options(const Session& session, bool unchanged, bool eager) {
  const RunConfig& config = session.config();
  const bool by_step = config.checkpoint_every.unit == Interval::Unit::step;
  return {.epochs = config.epochs,
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
