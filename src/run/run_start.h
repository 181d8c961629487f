// How a run begins: as a new one, or where an earlier one stopped.
//
// What differs between the two is in NewRun and ResumedRun; TrainingRun calls these
// functions in their order here and does not know which of the two it is. A run may be killed at
// any moment: what can be resumed then depends on that order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "ranks/rank_group.h"
#include "report/epoch_line.h"
#include "run/data_facts.h"
#include "run/run_folder.h"
#include "run/session/session.h"
#include "run/training_run.h"
#include "train/training_state.h"

namespace trainyard {

/// The key of run.json under which a run that began with --plot has the file's path.
inline constexpr const char* kImage = "plot";

/// What a run records of its config.
struct ConfigTexts {
  std::string resolved;  // resolved_yaml()
  std::string typed;     // typed_yaml()
  std::string network;   // the table of its layers
  std::string hash;      // config_hash()
};

class RunStart {
 public:
  using Warn = std::function<void(const std::string&)>;

  virtual ~RunStart() = default;

  /// Makes config() for `ranks` ranks.
  void describe_config(int ranks);
  [[nodiscard]] const ConfigTexts& config() const { return config_; }

  /// The folder of the run, existing or planned: "runs/NAME" for one that gets the next free
  /// number.
  [[nodiscard]] virtual fs::path folder() const = 0;
  /// True if the folder is the run's already, from an earlier start: it has its record, perhaps
  /// checkpoints, and is kept if this start fails.
  [[nodiscard]] virtual bool has_folder() const = 0;
  /// Throws Error{command_line} or Error{disk} as open_folder(), as far as it can be determined
  /// without leaving anything behind.
  virtual void require_folder(const Disk& disk) const = 0;
  [[nodiscard]] virtual RunFolder open_folder(const Disk& disk) const = 0;
  /// The file that the curves are copied to, of --plot: of this command, or else of the one that
  /// began the run; or empty.
  [[nodiscard]] virtual fs::path image() const = 0;
  /// The run's random id, see recorded_id(); once the session is made.
  [[nodiscard]] const std::optional<std::string>& id() const { return id_; }

  /// Throws as the constructor of Session; Error{checkpoint} for a checkpoint of another run.
  [[nodiscard]] virtual std::unique_ptr<Session> make_session(RankGroup& ranks,
                                                              const Warn& warn) = 0;
  /// Fills the session's model: with initial weights, or from the checkpoint. Once, after
  /// make_session(). Returns where training begins. Throws Error{checkpoint}.
  [[nodiscard]] virtual TrainingState fill(Session& session, const Warn& warn) = 0;
  /// What fill() has resumed; empty without a checkpoint.
  [[nodiscard]] const std::optional<Reached>& resumed() const { return resumed_; }
  /// True if that is with the run's own config.
  [[nodiscard]] bool unchanged() const { return unchanged_; }

  /// The data with the hashes of their files that earlier starts recorded; once the session is
  /// made, on rank 0.
  [[nodiscard]] virtual DataFacts known_data() const { return {}; }

  /// Before any row of a table is written. Throws Error{disk}, as the next.
  virtual void write_record(const RunFolder& folder, Session& session) const = 0;
  /// Immediately before the first step from `state`: records how the config, the data and the
  /// ranks differ from those of the run so far. Returns a warning, or "".
  [[nodiscard]] virtual std::string write_changes(const RunFolder& folder,
                                                  const TrainingState& state) const = 0;

 protected:
  /// `request` outlives it; `init_hash` is InitialWeights::hash of the weights of --init, or "".
  RunStart(const TrainingRequest& request, std::optional<std::string> id, std::string init_hash)
      : request_(request), id_(std::move(id)), init_hash_(std::move(init_hash)) {}

  const TrainingRequest& request_;
  std::optional<std::string> id_;
  std::optional<Reached> resumed_;
  bool unchanged_ = false;

 private:
  std::string init_hash_;
  ConfigTexts config_;
};

/// The start that is requested. `request` outlives it; see NewRun.
[[nodiscard]] std::unique_ptr<RunStart> make_start(TrainingRequest& request);

class NewRun final : public RunStart {
 public:
  /// `request` outlives it. fill() loads request.init into the model, writes the report there and
  /// frees what was read.
  explicit NewRun(TrainingRequest& request);

  [[nodiscard]] fs::path folder() const override;
  [[nodiscard]] bool has_folder() const override { return false; }
  void require_folder(const Disk& disk) const override;
  [[nodiscard]] RunFolder open_folder(const Disk& disk) const override;
  [[nodiscard]] fs::path image() const override { return request_.output; }
  [[nodiscard]] std::unique_ptr<Session> make_session(RankGroup& ranks, const Warn& warn) override;
  [[nodiscard]] TrainingState fill(Session& session, const Warn& warn) override;
  void write_record(const RunFolder& folder, Session& session) const override;
  /// Nothing: the record has the whole config.
  [[nodiscard]] std::string write_changes(const RunFolder& /*folder*/,
                                          const TrainingState& /*state*/) const override {
    return "";
  }

 private:
  std::optional<InitialWeights>& init_;  // weights of the request
};

}  // namespace trainyard
