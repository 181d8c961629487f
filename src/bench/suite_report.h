// Output of the figures of `train bench --suite`: a table, CSV, JSON lines.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/scaling.h"
#include "bench/suite.h"

namespace trainyard {

/// A row of a suite at one place, measured here or not.
struct SuiteMeasurement {
  const SuiteRow* row = nullptr;
  SuitePlace place;
  std::string unit;        // as in BenchResult; "": not known
  std::int64_t batch = 0;  // of each rank; 0: not known
  std::optional<ScalingRow> measured;
  std::string reason;  // why it was not measured
};

struct SuiteReport {
  const Suite* suite = nullptr;
  bool inference = false;                      // forward passes instead of training
  std::string version;                         // "train 0.1.0"
  std::vector<SuiteMeasurement> measurements;  // row after row
};

/// A rate of the report, ours or a published one.
struct SuiteLine {
  const SuiteRow* row = nullptr;
  std::string by;        // "train", "Keras-MXNet"
  std::string hardware;  // "Some CPU, 2 threads"
  SuitePlace place;
  std::string unit;
  std::int64_t batch = 0;            // on all devices together; 0: not known
  std::optional<double> rate;        // samples a second; empty: not measured
  const ScalingRow* ours = nullptr;  // of a measured one
  std::string versions;
  std::string reason;
};
/// For each row of the suite that has a measurement: ours, then the published ones.
[[nodiscard]] std::vector<SuiteLine> suite_lines(const SuiteReport& report);

/// For people: for each row a line per place with ours and the published rates, and why some were
/// not measured, in brief.
[[nodiscard]] std::string suite_table(const SuiteReport& report);
/// A line for each of suite_lines(): `state` is measured, published, or not measured with a reason.
[[nodiscard]] std::string suite_csv(const SuiteReport& report);
/// The same as JSON lines; what is not known is null.
[[nodiscard]] std::string suite_json(const SuiteReport& report);

}  // namespace trainyard
