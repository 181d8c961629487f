// `lr_scaling`: the learning rate and the global batch of a run.
#pragma once

#include <cstdint>
#include <string>

#include "config/fields.h"
#include "run/config/run_config.h"

namespace trainyard {

/// Reports a rule that lacks its reference batch, and two warm-ups that are asked for.
void check_rate_scaling(config::Fields& fields, const RunConfig& run);

/// What the run's rates are multiplied by once warmed up, where an update has `global` samples.
[[nodiscard]] double rate_factor(const RunConfig& run, std::int64_t global);
/// Puts the rule into the run's schedule.
void scale_schedule(RunConfig& run, std::int64_t global);

/// For a run whose batch grew with its ranks while nobody said what the rate should do: what may
/// come of it, and how to say; else "".
[[nodiscard]] std::string rate_warning(const RunConfig& run, std::int64_t ranks,
                                       std::int64_t global);

}  // namespace trainyard
