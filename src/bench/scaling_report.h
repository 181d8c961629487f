// Output of the figures of `train bench --scaling`: a table, CSV, JSON lines.
#pragma once

#include <cstdint>
#include <filesystem>
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

// The plot of `train bench --scaling`.

/// A gnuplot script that plots throughput next to N times the throughput of one rank, and the parts
/// of the time of a step, to the file name of `output`, .png or .svg, preceded by the variable
/// `prefix` if that is set. It contains its data, and can be run by itself next to the plot.
[[nodiscard]] std::string scaling_script(const ScalingSubject& subject,
                                         std::span<const ScalingRow> rows,
                                         const std::filesystem::path& output);

}  // namespace trainyard
