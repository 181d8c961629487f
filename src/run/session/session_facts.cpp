#include "run/session/session_facts.h"

#include <fmt/format.h>

#include <string>

#include "graph/network_input.h"
#include "run/config/batch_rate.h"

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

}  // namespace trainyard
