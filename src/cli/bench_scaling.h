// `train bench --scaling 1,2,4`: runs with each number of ranks in turn and reports why N ranks are
// not N times as fast.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/scaling_report.h"
#include "cli/launch.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"

namespace trainyard::cli {

struct ScalingFlags {
  RunFlags run;
  LaunchFlags launch;
  std::string counts;                 // "1,2,4"
  std::optional<std::int64_t> batch;  // samples per pass on each rank; empty: the config's
  int rounds = 3;                     // starts of each count
  int windows = 5;                    // of each kind, per start
  double window_seconds = 1;
  bool inference = false;  // forward passes instead of training
  std::string output;      // plot; "": scaling.png if gnuplot is installed
  bool json = false;
};

/// The run with its number of threads set for `most` ranks. Throws as read_config(), and
/// Error{command_line} for a run with shards.
[[nodiscard]] RunConfig scaling_config(const ScalingFlags& flags, int most);
/// A subject with all but the results.
[[nodiscard]] ScalingSubject scaling_subject(const ScalingFlags& flags, const RunConfig& run,
                                             int most);
/// The GPUs that --gpus selects for `most` ranks on this machine. Throws Error{device} or
/// Error{command_line} if they are too few, or cannot be used.
[[nodiscard]] RankCount gpus_for_ranks(const ScalingFlags& flags, int most);

/// The path of a plot, and the program that draws it.
struct Picture {
  std::filesystem::path gnuplot;  // empty: not installed
  std::filesystem::path output;
};
/// `usual` unless the flags name a plot. Throws Error{command_line} for one that was requested and
/// cannot be drawn.
[[nodiscard]] Picture picture_of(const ScalingFlags& flags, const std::string& usual);
/// Writes the table next to the plot, and draws it; a plot that cannot be drawn gives a warning.
void write_files(const Picture& picture, const std::string& csv, const std::string& script);

/// "1,2,4" as numbers, ascending. Throws Error{command_line} unless they are distinct whole numbers
/// from 1 to 256, or to kMostRanks with `hosts`.
[[nodiscard]] std::vector<int> parse_counts(const std::string& text, bool hosts);

/// Measures as one of the ranks, or starts them and prints the results. Returns the exit code.
int bench_scaling(const ScalingFlags& flags, const Context& context);

}  // namespace trainyard::cli
