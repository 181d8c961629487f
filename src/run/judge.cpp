#include "run/judge.h"

#include "base/error.h"

namespace trainyard {

Judge judge_of(const RunConfig& config, std::span<const std::string> names) {
  Judge rule{.min_delta = config.early_stop ? config.early_stop->min_delta : 0};
  const std::string wanted = config.checkpoint.best ? config.checkpoint.best->metric
                             : names.empty()        ? "val_loss"
                                                    : "val_" + names[0];
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wanted == "val_" + names[i]) rule.metric = static_cast<int>(i);
  }
  if (rule.metric < 0 && wanted != "val_loss") {
    std::string known = "val_loss";
    for (const std::string& name : names) known += ", val_" + name;
    throw Error(ErrorKind::config,
                "checkpoint.best.metric '" + wanted + "' is not measured; one of " + known);
  }
  rule.larger_is_better = config.checkpoint.best
                              ? config.checkpoint.best->mode == BestConfig::Mode::max
                              : rule.metric >= 0;
  return rule;
}

std::string judged_column(const Judge& judge, std::span<const std::string> names) {
  return judge.metric < 0 ? "val_loss" : "val_" + names[static_cast<std::size_t>(judge.metric)];
}

}  // namespace trainyard
