// The start of a new run: a folder of its own, initial weights, step 1.
#pragma once

#include "run/run_start.h"

namespace trainyard {

class NewRun final : public RunStart {
 public:
  /// `request` outlives it. fill() loads request.init into the model, writes the report there and
  /// frees what was read.
  explicit NewRun(TrainingRequest& request);

  [[nodiscard]] std::filesystem::path folder() const override;
  [[nodiscard]] bool has_folder() const override { return false; }
  void require_folder(const Disk& disk) const override;
  [[nodiscard]] RunFolder open_folder(const Disk& disk) const override;
  [[nodiscard]] std::filesystem::path picture() const override { return request_.output; }
  [[nodiscard]] std::unique_ptr<Session> make_session(RankGroup& ranks, const Warn& warn) override;
  [[nodiscard]] TrainingState fill(Session& session, const Warn& warn) override;
  void write_record(const RunFolder& folder, Session& session) const override;
  /// Nothing: the record has the whole config.
  [[nodiscard]] std::string write_changes(const RunFolder& /*folder*/,
                                          const TrainingState& /*state*/) const override {
    return "";
  }

 private:
  std::optional<InitialWeights>& init_;  // of the request
};

}  // namespace trainyard
