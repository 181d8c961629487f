#include "run/trainer_options.h"

#include "run/config/best_metric_choice.h"

namespace trainyard {

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
