// Why N ranks are not N times as fast as one: figures of measured steps. Pure arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace trainyard {

/// Seconds of an update on one rank, each measured over windows of many.
struct StepTimes {
  double whole = 0;         // as training makes it
  double without_sums = 0;  // nothing is summed over ranks, which all work at the same time
  double without_data = 0;  // that, and always the same batch, which stays on the device
  double sums = 0;          // the sums over ranks and nothing else
};

/// What one rank measured in one start.
struct RankMeasurement {
  std::string host;
  std::string device;  // "cpu", "cuda:0"
  int threads = 1;
  int cores = 1;             // of its host, that it may use
  int local_ranks = 1;       // on its host
  std::int64_t samples = 1;  // of an update, on this rank
  StepTimes seconds;
};
/// As ranks tell it each other. The second throws Error{device} for what the first did not write.
[[nodiscard]] Json json_of(const RankMeasurement& measurement);
[[nodiscard]] RankMeasurement measurement_of(const Json& json);

/// All ranks of one start, by rank.
using ScalingRound = std::vector<RankMeasurement>;
/// The line by which rank 0 tells it the launcher.
[[nodiscard]] std::string round_line(const ScalingRound& round);
/// What rank 0 of `ranks` printed: its round, and the other lines, which are somebody else's.
/// Throws Error{device} where there is no such round.
struct PrintedRound {
  ScalingRound round;
  std::string others;
};
[[nodiscard]] PrintedRound round_in(std::string_view printed, int ranks);

/// Where the time of an update goes, in milliseconds. data + compute + communication = step.
struct StepParts {
  double step = 0;
  double data = 0;           // that it would be shorter if batches came by themselves
  double compute = 0;        // the rest
  double communication = 0;  // that it would be shorter without sums over ranks: exposed
  double hidden = 0;         // of the sums, what goes on beside the rest
};

/// One count of ranks: medians over its rounds.
struct ScalingRow {
  int ranks = 1;
  double images_per_second = 0;  // of all ranks
  double low = 0, high = 0;      // of the rounds
  double speed_up = 1;           // over one rank; where one was not measured, a share of the fewest
  double efficiency = 1;         // speed_up by ranks
  StepParts parts;               // means over ranks
  std::vector<RankMeasurement> by_rank;  // of the first round, for what they are
  std::vector<StepParts> parts_by_rank;
};

/// The rows, by number of ranks, of all starts in any order. Every count has at least one.
[[nodiscard]] std::vector<ScalingRow> scaling_rows(std::span<const ScalingRound> rounds);

/// "2 ranks: 1.83 of 2 times. Of the missing 8.5 %: compute 6.2 % (48.1 to 51.3 ms), ..." The
/// shares are what each part of a step has grown since `fewest`, by the step of `row`.
[[nodiscard]] std::string missing_text(const ScalingRow& fewest, const ScalingRow& row);

}  // namespace trainyard
