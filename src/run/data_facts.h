// What the data of a run are: as they were opened, and as its folder recorded them, in run.json,
// samples.json, val_samples.csv and, for samples that are a file each, data_files.csv.
// Whether data are those that a run was trained on.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "data/sets/dataset.h"
#include "formats/json.h"
#include "run/run_folder.h"
#include "run/session/session_data.h"

namespace trainyard {

/// What is not known, of a run from before it was recorded, is empty or 0.
struct SplitFacts {
  std::string fingerprint;
  std::int64_t samples = 0;
  std::int64_t classes = 0;
  std::vector<std::string> class_names;
  SampleFiles files;
};

struct DataFacts {
  SplitFacts train, val;
};

[[nodiscard]] SplitFacts facts_of(const Dataset& set);
[[nodiscard]] DataFacts facts_of(const SessionData& data);
/// Facts of both splits of a config, which are opened. Throws as DatasetSource::open().
[[nodiscard]] DataFacts open_facts(const RunConfig& run, const Opening& opening);

/// What the run in `folder` recorded; nothing without a run.json that can be read. Throws
/// Error{checkpoint} for a damaged data_files.csv.
[[nodiscard]] DataFacts recorded_facts(const fs::path& folder);

/// How the samples of the run in `folder` were divided, as run.json says. Throws Error{checkpoint}
/// for a rule that is not known.
[[nodiscard]] Division recorded_division(const fs::path& folder);
/// Names the rule of a new run in run.json.
void put_division(Json& run);

/// Sets the keys of run.json that recorded_facts() reads.
void put_facts(const DataFacts& facts, Json& run);

/// split,name,label,bytes,changed,hash: a line for each file of both splits.
[[nodiscard]] std::string data_files_csv(const DataFacts& facts);

/// val_samples.csv: name,label of each sample; sample_name() and the name of its class.
[[nodiscard]] std::string val_samples_csv(const Dataset& val);

/// The hashes of the files that this rank decodes while it trains.
class HashNews {
 public:
  /// `data` outlives it.
  explicit HashNews(const SessionData& data);
  /// Whether samples are read from files of their own: the same on all ranks.
  [[nodiscard]] bool expected() const;
  /// The hashes since the last call, a line "SPLIT INDEX HASH" each.
  [[nodiscard]] std::string next();

 private:
  const SessionData* data_;
  std::set<std::string> told_;  // lines
};

/// data_files.csv of a run that trains: written before its first step, and again as the hashes of
/// its files become known. Nothing for samples that are no files of their own.
class DataFiles {
 public:
  /// All outlive it. `known`: the same data, with hashes from earlier starts of the run.
  DataFiles(const RunFolder& folder, const SessionData& data, DataFacts known);
  /// Throws Error{disk}, as the next.
  void write();
  /// Takes what HashNews of another rank tells.
  void take(const std::string& news);
  /// Writes if more hashes are known than were written: of a hundredth of the files, or of all.
  void write_news();

 private:
  /// Takes what has been decoded by now, and returns the number of files whose hash is known.
  std::int64_t look();

  const RunFolder* folder_;
  const SessionData* data_;
  DataFacts known_;
  std::int64_t files_ = 0;
  std::int64_t written_ = 0;  // hashes
};

/// The flags --changed-data and --check-data.
struct DataCheck {
  bool changed = false;    // other data are a warning, not an error
  bool all_files = false;  // every file whose hash is known is read, not only those whose time
                           // has changed
};

/// How `now` differs from what a run recorded, `before`, in words: samples, classes, files and
/// their contents, each with the first example; "" if it does not, as far as the record goes. Reads
/// the files whose contents must be compared, and completes the hashes of `now`. Throws Error{data}
/// for a file that cannot be read.
[[nodiscard]] std::string split_change(const SplitFacts& before, SplitFacts& now, bool all_files);

/// The change of each split, as lines "training split: ..."; empty: none.
[[nodiscard]] std::vector<std::string> data_changes(const DataFacts& before, DataFacts& now,
                                                    bool all_files);

/// Tells `changes`, if there are any, to `warn` if the flag allows them. Throws Error{data} with
/// them otherwise, and with `advice`: what to do besides restoring the data.
void judge_changes(std::span<const std::string> changes, const std::string& run,
                   const std::string& advice, const DataCheck& check,
                   const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
