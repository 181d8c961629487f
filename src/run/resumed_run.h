// The start of a resumed run: its folder, its newest checkpoint, its config with the overrides of
// this resume.
#pragma once

#include <optional>

#include "checkpoint/checkpoint_files.h"
#include "run/run_start.h"

namespace trainyard {

class ResumedRun final : public RunStart {
 public:
  /// `request` outlives it; its `resume` is the folder.
  explicit ResumedRun(const TrainingRequest& request);

  [[nodiscard]] std::filesystem::path folder() const override { return request_.resume; }
  [[nodiscard]] bool has_folder() const override { return true; }
  /// Nothing: open_folder() leaves nothing behind that was not there.
  void require_folder(const Disk& disk) const override;
  [[nodiscard]] RunFolder open_folder(const Disk& disk) const override;
  /// Without --plot that of the run's record, if its folder exists still.
  [[nodiscard]] std::filesystem::path picture() const override;
  [[nodiscard]] const RunIdentity& identity() const override { return identity_; }
  /// With the checkpoint's number of threads, unless one is requested, and the choices of the run.
  [[nodiscard]] std::unique_ptr<Session> make_session(RankGroup& ranks, const Warn& warn) override;
  /// With initial weights, those of --init if the run began so, if no checkpoint was ever written.
  [[nodiscard]] StartPoint fill(Session& session, const Warn& warn) override;
  /// Also what the start, or the last save, did not write because the process died.
  void write_record(const RunFolder& folder, const RunFacts& facts,
                    Session& session) const override;
  [[nodiscard]] std::string write_changes(const RunFolder& folder, const RunFacts& facts,
                                          const TrainingState& state) const override;

 private:
  /// The run.json of the run.
  [[nodiscard]] std::filesystem::path record() const { return request_.resume / "run.json"; }

  const TrainingRequest& request_;
  RunIdentity identity_;
  bool begins_ = false;                         // no checkpoint was ever written
  std::optional<LoadedCheckpoint> checkpoint_;  // between make_session() and fill()
  /// That the run continues from, and the best one; after fill().
  std::optional<CheckpointEntry> newest_, best_;
};

}  // namespace trainyard
