// How the figures of `train bench --scaling` are told: a table, CSV, JSON lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/scaling.h"

namespace trainyard {

/// What was measured, beside the rows.
struct ScalingSubject {
  std::string network;
  std::int64_t batch = 1;  // samples of a pass of each rank
  std::string batch_from;  // what said so: "--batch"
  int rounds = 1;
};

/// For people: a line a count, below it one a rank where there are several, and sentences that say
/// what is missing from N times.
[[nodiscard]] std::string scaling_table(const ScalingSubject& subject,
                                        std::span<const ScalingRow> rows);
/// A line a count and rank. Rates, speed-up and efficiency are those of the count, times the
/// rank's.
[[nodiscard]] std::string scaling_csv(const ScalingSubject& subject,
                                      std::span<const ScalingRow> rows);
/// A line a count.
[[nodiscard]] std::string scaling_json(const ScalingSubject& subject,
                                       std::span<const ScalingRow> rows);

}  // namespace trainyard
