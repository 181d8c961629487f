// `train plot --schedule CONFIG`: the learning rates of a run that has not begun, without its data.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/curve_picture.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The number of training samples as far as the run file tells it: the `size` of synthetic data,
/// the published size of a known set, at most `limit`. Empty for other sources.
[[nodiscard]] std::optional<std::int64_t> expected_samples(const RunConfig& run);

/// The rate of every step of the run on `ranks` ranks, with the scaling for its global batch; not
/// what `plateau` will make of it. Throws Error{config} as batch_numbers() and Schedule::rate().
[[nodiscard]] CurvePicture schedule_curve(const RunConfig& run, std::int64_t ranks,
                                          std::int64_t samples);

}  // namespace trainyard
