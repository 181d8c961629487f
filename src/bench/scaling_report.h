// Output of the figures of `train bench --scaling`: a table, CSV, JSON lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/scaling.h"

namespace trainyard {

/// What was measured, in addition to the rows.
struct ScalingSubject {
  std::string network;
  std::string unit = "images";  // as in BenchResult
  std::int64_t batch = 1;       // samples per pass of each rank
  std::string batch_from;       // where it was given: "--batch"
  int rounds = 1;
};

/// For people: one line per count, below it one per rank if there are several, sentences that say
/// what is missing from N times, and the size and time of each all-reduce.
[[nodiscard]] std::string scaling_table(const ScalingSubject& subject,
                                        std::span<const ScalingRow> rows);
/// One line per count and rank. Throughput, speed-up and efficiency are those of the count, times
/// those of the rank.
[[nodiscard]] std::string scaling_csv(const ScalingSubject& subject,
                                      std::span<const ScalingRow> rows);
/// One line per count.
[[nodiscard]] std::string scaling_json(const ScalingSubject& subject,
                                       std::span<const ScalingRow> rows);

}  // namespace trainyard
