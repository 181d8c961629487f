// `train bench --scaling 1,2,4`: runs with each number of ranks in turn and reports why N ranks are
// not N times as fast.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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
  std::string output;  // plot; "": scaling.png if gnuplot is installed
  bool json = false;
};

/// "1,2,4" as numbers, ascending. Throws Error{command_line} unless they are distinct whole numbers
/// from 1 to 256, or to kMostRanks with `hosts`.
[[nodiscard]] std::vector<int> parse_counts(const std::string& text, bool hosts);

/// Measures as one of the ranks, or starts them and prints the results. Returns the exit code.
int bench_scaling(const ScalingFlags& flags, const Context& context);

}  // namespace trainyard::cli
