// Why N ranks are not N times as fast as one: measured steps, figures from them, and their report.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "formats/json.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"

namespace trainyard {

/// Seconds per step on one rank, each measured over windows of many steps.
struct StepTimes {
  double whole = 0;         // as in training
  double without_sums = 0;  // without all-reduces, while all ranks work at the same time
  double without_data = 0;  // also with always the same batch, which stays on the device
  double sums = 0;          // only the all-reduces
};

/// An all-reduce of a step, made alone.
struct CollectiveTime {
  std::string elements;    // "1,652,826 f32 elements and 2 f64 elements"
  std::int64_t bytes = 0;  // one rank's
  double seconds = 0;
};

/// What one rank measured in one start.
struct RankMeasurement {
  std::string host;
  std::string device;  // "cpu", "cuda:0"
  int threads = 1;
  int cores = 1;             // cores of its host that it may use
  int local_ranks = 1;       // on its host
  std::int64_t samples = 1;  // per step, on this rank
  StepTimes seconds;
  std::vector<CollectiveTime> collectives;  // in the order of a step
  std::string device_text;                  // "CPU, 2 threads", "cuda:0 (NVIDIA H200), bf16"
  std::string processor;                    // its host's; "" if the system does not name it
  std::string libraries;                    // "oneDNN 3.1.1"
};
/// As exchanged between ranks. The second throws Error{device} for what the first did not write.
[[nodiscard]] Json json_of(const RankMeasurement& measurement);
[[nodiscard]] RankMeasurement measurement_of(const Json& json);

/// All ranks of one start, by rank.
using ScalingRound = std::vector<RankMeasurement>;
/// The line with which rank 0 reports it to the launcher.
[[nodiscard]] std::string round_line(const ScalingRound& round);
/// The output of rank 0 of `ranks`: its round, and the other lines, which have other sources.
/// Throws Error{device} if there is no such round.
struct PrintedRound {
  ScalingRound round;
  std::string others;
};
[[nodiscard]] PrintedRound round_in(std::string_view printed, int ranks);

/// The parts of the time of a step, in milliseconds. data + compute + communication = step.
struct StepParts {
  double step = 0;
  double data = 0;           // time saved if batches took no time
  double compute = 0;        // the rest
  double communication = 0;  // time saved without all-reduces: exposed
  double hidden = 0;         // the part of the all-reduces that overlaps the rest
};

/// One count of ranks: medians over its rounds.
struct ScalingRow {
  int ranks = 1;
  double images_per_second = 0;  // all ranks'
  double low = 0, high = 0;      // extremes of the rounds
  double speed_up = 1;           // over one rank; if not measured, over a share of the fewest
  double efficiency = 1;         // speed_up / ranks
  StepParts parts;               // means over ranks
  std::vector<CollectiveTime> collectives;  // medians of means over ranks
  std::vector<RankMeasurement> by_rank;     // ranks of the first round, to describe them
  std::vector<StepParts> parts_by_rank;
};

/// The rows, by number of ranks, of all starts in any order. Every count has at least one start.
[[nodiscard]] std::vector<ScalingRow> scaling_rows(std::span<const ScalingRound> rounds);

/// "2 ranks: 1.83 of 2 times. The missing 8.5 %: compute 6.2 % (48.1 to 51.3 ms), ..." The
/// shares are the growth of each part of a step since `fewest`, relative to the step of `row`.
[[nodiscard]] std::string missing_text(const ScalingRow& fewest, const ScalingRow& row);

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
                                         std::span<const ScalingRow> rows, const fs::path& output);

// What one of the ranks measures.

struct ScalingOptions {
  std::int64_t batch = 1;  // samples per pass of each rank
  int windows = 5;         // windows of each kind, alternating; medians over them
  double window_seconds = 1;
  bool inference = false;  // forward passes instead of training
  DeviceChoice device;
};

/// Trains `run` on its own data with a batch for each rank, whole and with parts left out, or only
/// runs its forward pass on a batch that stays on the device, as one of the ranks. Returns every
/// rank's measurement, by rank. Throws Error of any kind, the first of all ranks: those of Session,
/// Error{diverged}, Error{device}.
[[nodiscard]] ScalingRound measure_scaling(RunConfig run, const ScalingOptions& options,
                                           RankGroup& ranks);

}  // namespace trainyard
