#include "run/config/plateau_config.h"

#include "run/config/run_config.h"

namespace trainyard {

void declare(config::Fields& fields, PlateauConfig& plateau) {
  PlateauRule& rule = plateau.rule;
  if (!fields.keys_only("{factor: 0.1, patience: 10}")) return;
  fields.field("monitor", plateau.monitor, "column of metrics.csv that should improve");
  fields.field("factor", rule.factor, "factor of the learning rate when it does not",
               {.minimum = 0, .maximum = 0.999999});
  fields.field("patience", rule.patience, "epochs without improvement before the rate falls",
               {.minimum = 1});
  fields.field("min_delta", rule.min_delta, "smallest change that counts as an improvement",
               {.minimum = 0});
  fields.field("cooldown", rule.cooldown, "epochs after a fall in which none is counted",
               {.minimum = 0});
  fields.field("min_lr", rule.min_rate, "the learning rate does not fall below it", {.minimum = 0});
  BestConfig::Mode mode = usual_mode(plateau.monitor);
  fields.field("mode", mode,
               "whether lower or higher is better; left out: lower for a loss or an error");
  rule.larger_is_better = mode == BestConfig::Mode::max;
}

std::string plateau_warning(const RunConfig& run) {
  if (!run.plateau || !run.schedule || run.schedule->name() == "constant") return "";
  return "'plateau' multiplies the learning rates of schedule '" +
         std::string(run.schedule->name()) +
         "'; for a rate that only the plateau lowers, leave out 'schedule'";
}

}  // namespace trainyard
