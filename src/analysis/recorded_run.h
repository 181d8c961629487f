// A run read back from its folder, whatever became of it.
//
// The folder analysis works on runs that exist: it reads their folders and compares, tabulates and
// plots them. It trains nothing and changes nothing in a run folder.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/filesystem.h"
#include "config/node.h"
#include "formats/json.h"
#include "report/status.h"

namespace trainyard {

// The tables of a run read back: metrics.csv, steps.csv.

/// A table of numbers. What was not measured, and "nan" and "inf", are empty.
struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<double>>> rows;  // [row][column]

  /// The index of a column; empty if the table lacks it, as that of an older version may.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
  /// The values of a column from the first row to the last; none if the table lacks it.
  [[nodiscard]] std::vector<std::optional<double>> values(std::string_view column) const;
};

/// Reads a table that another process may be writing: an incomplete last line is left out. A
/// missing or empty file is a table without columns. Throws Error{data} with the position of a
/// line that is not a row of the table, or if the file cannot be read.
[[nodiscard]] CsvTable read_csv_table(const fs::path& path);

struct ResultFact {
  std::string key;    // "run.global_batch"
  std::string value;  // "64", or "64, 128" if a resume changed it
};

/// The initial weights (their hash, "" for random ones), ranks, global batch, fingerprints of the
/// data, kernels and program version of a run.json; those that it records.
[[nodiscard]] std::vector<ResultFact> result_facts(const Json& run);

/// The keys of all facts, in their order.
[[nodiscard]] const std::vector<std::string>& result_fact_keys();

/// The key of a config that no result depends on.
inline constexpr const char* kThreadsKey = "threads";

/// As much as the folder tells. What cannot be read is missing and has a line in `problems`.
struct RecordedRun {
  fs::path folder;
  std::string state;                // the verdict of `train doctor RUN`; "unknown" without a status
  std::optional<int> exit_code;     // its exit code; empty while it runs, or if it was killed
  std::optional<RunStatus> status;  // empty: no status.json, or none that can be read
  config::Node config;              // config.yaml: resolved; null: none, or none that can be read
  std::vector<std::string> changed;  // keys that --set or a resume changed
  std::vector<ResultFact> facts;     // facts in run.json; none if it cannot be read
  CsvTable epochs;                   // metrics.csv
  std::vector<std::string> problems;
};

/// The value of a fact; none if the run does not record it.
[[nodiscard]] std::optional<std::string> fact_of(const RecordedRun& run, const std::string& key);

/// Reads the run of a folder, also one that is being written. Never throws for what the folder
/// contains.
[[nodiscard]] RecordedRun read_recorded_run(const fs::path& folder, const Clock& clock);

/// The run folders that `arguments` name, sorted within an argument: a run folder; a folder with
/// runs in it, at most two levels down, as "runs" and "runs/NAME"; or a pattern of such folders in
/// quotes, "runs/lr-*". Each run is listed once. Throws Error{command_line} for an argument without
/// a run.
[[nodiscard]] std::vector<fs::path> find_runs(std::span<const std::string> arguments);

/// find_runs(), read.
[[nodiscard]] std::vector<RecordedRun> read_recorded_runs(std::span<const std::string> arguments,
                                                          const Clock& clock);

}  // namespace trainyard
