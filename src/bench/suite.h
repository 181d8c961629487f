// Suites: the rates that other programs published for shipped configs, and ours beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "bench/scaling.h"

namespace trainyard {

/// Where a row is measured.
struct SuitePlace {
  int ranks = 1;
  bool gpus = false;  // a GPU for each rank, else they are on the CPU
  bool operator==(const SuitePlace&) const = default;
};
/// "CPU", "2 CPU ranks", "1 GPU", "8 GPUs".
[[nodiscard]] std::string place_text(const SuitePlace& place);

/// A rate of a row at a place: published, or ours, measured or not.
struct SuiteLine {
  std::string row;     // "LSTM, Nietzsche"
  std::string config;  // a name in configs/
  std::string by;      // "train", "Keras-MXNet"
  std::string hardware;
  SuitePlace place;
  bool inference = false;      // forward passes instead of training
  std::string unit;            // as in BenchResult; "": not known
  std::int64_t batch = 0;      // on all devices together; 0: not known
  std::optional<double> rate;  // samples a second; empty: not measured
  std::string versions;
  std::string source;              // where a published rate is from
  std::string reason;              // why it was not measured
  std::optional<ScalingRow> ours;  // the row of our rate
};

/// The published rates of a CSV file, whose columns are named as those of suite_csv(). Throws
/// Error{config} with the line at fault.
[[nodiscard]] std::vector<SuiteLine> read_suite(const fs::path& file);

struct SuiteReport {
  std::string name;
  std::vector<SuiteLine> lines;
};
/// Our line of a row, with what was measured if anything was.
[[nodiscard]] SuiteLine our_line(SuiteLine line, const std::string& version,
                                 const std::optional<ScalingRow>& measured);
/// For each config of `ours` in turn, place by place: ours, then the published rates of its task.
[[nodiscard]] std::vector<SuiteLine> with_published(const std::vector<SuiteLine>& ours,
                                                    const std::vector<SuiteLine>& published);

/// For people: for each row a line per place with ours and the published rates, and why some were
/// not measured, in brief.
[[nodiscard]] std::string suite_table(const SuiteReport& report);
/// A line for each line; `state` is measured, published, or not measured with a reason.
[[nodiscard]] std::string suite_csv(const SuiteReport& report);
/// The same as JSON lines; what is not known is null.
[[nodiscard]] std::string suite_json(const SuiteReport& report);
/// A gnuplot script that draws a panel for each row, with a group of bars for each place: ours and
/// the published rates, to the file name of `output`, as scaling_script() does. What was not
/// measured has no bar, and its panel says so.
[[nodiscard]] std::string suite_script(const SuiteReport& report, const fs::path& output);

}  // namespace trainyard
