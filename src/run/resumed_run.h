// The start of a resumed run: its folder, its newest checkpoint, its config with the overrides of
// this resume.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "checkpoint/checkpoint_files.h"
#include "run/data_facts.h"
#include "run/run_folder.h"
#include "run/run_start.h"
#include "run/training_files.h"

namespace trainyard {

// What a resume records in run.json besides its config.

/// What determines a result besides config, data and initial weights.
struct ResumeCircumstances {
  std::int64_t ranks = 1;
  std::int64_t global_batch = 1;
  std::string version;  // version of the program
};

struct ResumedOn {
  DataFacts data;
  std::vector<std::string> changes;  // from the run's data, in words; empty: none
  std::string command;               // as typed
  std::int64_t epoch = 1;            // the first one trained so, perhaps in part
  std::int64_t step = 1;
};

/// Adds an entry to "resumes" of run.json if the circumstances differ from those that the run had
/// last, and one to "data_changes", with the new fingerprints, if the data do. A run.json that
/// cannot be read is left as it is. Throws Error{disk}.
void record_resume(const RunFolder& folder, const ResumeCircumstances& now, const ResumedOn& on);

/// Whether every start of the run in `folder` had this global batch, as far as run.json tells.
[[nodiscard]] bool trained_with(const fs::path& folder, std::int64_t global_batch);

class ResumedRun final : public RunStart {
 public:
  /// `request` outlives it; its `resume` is the folder.
  explicit ResumedRun(const TrainingRequest& request);

  [[nodiscard]] fs::path folder() const override { return request_.resume; }
  [[nodiscard]] bool has_folder() const override { return true; }
  /// Nothing: open_folder() leaves nothing behind that was not there.
  void require_folder(const Disk& disk) const override;
  [[nodiscard]] RunFolder open_folder(const Disk& disk) const override;
  /// Without --plot that of the run's record, if its folder exists still.
  [[nodiscard]] fs::path image() const override;
  /// With the checkpoint's number of threads, unless one is requested, and the choices of the run.
  /// Throws Error{data}, besides, on rank 0 for other data than the run's, unless the request
  /// allows them.
  [[nodiscard]] std::unique_ptr<Session> make_session(RankGroup& ranks, const Warn& warn) override;
  /// With initial weights, those of --init if the run began so, if no checkpoint was ever written.
  [[nodiscard]] TrainingState fill(Session& session, const Warn& warn) override;
  [[nodiscard]] DataFacts known_data() const override { return data_; }
  /// Also what the start, or the last save, did not write because the process died.
  void write_record(const RunFolder& folder, Session& session) const override;
  [[nodiscard]] std::string write_changes(const RunFolder& folder,
                                          const TrainingState& state) const override;

 private:
  /// The run.json of the run.
  [[nodiscard]] fs::path record() const { return request_.resume / "run.json"; }
  void look_at(const SessionData& data, const Warn& warn);

  bool begins_ = false;                               // no checkpoint was ever written
  DataFacts data_;                                    // on rank 0, like the next
  std::vector<std::string> data_changes_;             // from the run's
  SamplesRecord samples_;                             // record of the training split
  std::optional<ResumeCircumstances> circumstances_;  // once the session is made
  std::optional<LoadedCheckpoint> checkpoint_;        // between make_session() and fill()
  /// The checkpoint that the run continues from, and the best one; after fill().
  std::optional<CheckpointEntry> newest_, best_;
};

}  // namespace trainyard
