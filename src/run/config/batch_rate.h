// `lr_scaling`: the learning rate and the global batch of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/fields.h"
#include "report/plot_script.h"
#include "run/config/batch_numbers.h"
#include "run/config/run_config.h"

namespace trainyard {

/// Reports a rule without its reference batch, and two warm-ups.
void check_rate_scaling(config::Fields& fields, const RunConfig& run);

/// The factor on the run's learning rate after the warm-up, with `global` samples per step.
[[nodiscard]] double rate_factor(const RunConfig& run, std::int64_t global);
/// The run's schedule with `global` samples per step: the rule applied to that of its file. May be
/// null: the learning rate does not change.
[[nodiscard]] std::shared_ptr<const Schedule> schedule_of(const RunConfig& run,
                                                          std::int64_t global);

/// The learning rates of a run with these batches, of at most about `most` steps at equal distances
/// and of the last; not what `plateau` makes of them.
[[nodiscard]] std::vector<RatePoint> scheduled_rates(const RunConfig& run,
                                                     const BatchNumbers& batch, std::int64_t most);

/// A warning, with advice, for a run whose batch grew with its ranks and that has no `lr_scaling`;
/// else "".
[[nodiscard]] std::string rate_warning(const RunConfig& run, std::int64_t ranks,
                                       std::int64_t global);

}  // namespace trainyard
