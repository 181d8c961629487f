// `train bench --scaling 1,2,4`: runs with each number of ranks in turn and reports why N ranks are
// not N times as fast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "bench/bench.h"
#include "bench/scaling.h"
#include "cli/run_flags.h"
#include "cli/spawn.h"
#include "cli/verbs.h"
#include "formats/json.h"

namespace trainyard::cli {

struct ScalingFlags {
  RunFlags run;
  SpawnFlags spawn;
  std::string counts;                 // "1,2,4"
  std::optional<std::int64_t> batch;  // samples per pass on each rank; empty: the config's
  int rounds = 3;                     // starts of each count
  int windows = 5;                    // windows of each kind, per start
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
struct PlotFiles {
  fs::path gnuplot;  // empty: not installed
  fs::path output;
};
/// `usual` unless the flags name a plot. Throws Error{command_line} for one that was requested and
/// cannot be drawn.
[[nodiscard]] PlotFiles plot_files(const ScalingFlags& flags, const std::string& usual);
/// Writes the table next to the plot, and draws it; a plot that cannot be drawn gives a warning.
void write_files(const PlotFiles& plot, const std::string& csv, const std::string& script);

/// "1,2,4" as numbers, ascending. Throws Error{command_line} unless they are distinct whole numbers
/// from 1 to 256, or to kMostRanks with `hosts`.
[[nodiscard]] std::vector<int> parse_counts(const std::string& text, bool hosts);

/// Measures as one of the ranks, or starts them and prints the results. Returns the exit code.
int bench_scaling(const ScalingFlags& flags, const Context& context);

// `train bench --suite NAME`: measures the rows of a suite, and shows the published rates beside
// ours.

struct SuiteFlags {
  std::string name;
  std::string rows;  // configs, comma-separated; "": all
};

/// Measures each row on the CPU and for each count of --scaling (1,4,8 unless given): with so many
/// GPUs, or with --gpus 0 so many ranks on the CPU. A row without data, or for which the machine
/// lacks GPUs or memory, is reported with the reason. Returns the exit code: 0 if anything was
/// measured, else that of the first row.
int bench_suite(const SuiteFlags& suite, const ScalingFlags& flags, const Context& context);

// What `train bench --layers` prints: the steps of a plan with their times and algorithms.

/// A line a step: time, share of the training step, and of a product its algorithm with its share
/// of the peak, counted in operations of the direct form and, if it executes fewer, in those; then
/// the sums of products and of everything else. "" without layers.
[[nodiscard]] std::string layers_text(const BenchResult& result);
/// The same as an array with an object a step.
[[nodiscard]] Json layers_json(const BenchResult& result);
/// On a GPU: a line a launch, of several that are alike in a step one, then the sum of all. "" on
/// the CPU.
[[nodiscard]] std::string node_times_text(const BenchResult& result);
/// An array of {"step", "kind", "functor", "library", "beside", "bytes", "flop", "nodes", "count",
/// "microseconds"}; time, bytes and operations are of one of `count` launches.
[[nodiscard]] Json node_times_json(const BenchResult& result);

/// JSON lines, of the bench and then of each span: {"node", "kind", "functor", "queue", "begin_us",
/// "end_us", "gap_us", "calls_in_gap"}.
[[nodiscard]] std::string spans_lines(const BenchResult& result);

}  // namespace trainyard::cli
