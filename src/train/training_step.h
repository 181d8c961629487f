// What a device does in an update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device/repeated_work.h"
#include "model/model.h"
#include "train/updater.h"

namespace trainyard {

/// The passes of an update (Updater::passes()), each recorded and replayed: as a whole, or where
/// sums over ranks want the host (Communicator::recordable()) what is before and behind them. Where
/// such sums are within the network, nothing is recorded.
class TrainingStep {
 public:
  /// Model and updater must outlive it.
  TrainingStep(Model& model, Updater& updater);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  /// Puts on pass `index` with the batch that is loaded: forward, backward and the sums of loss and
  /// metrics; the first one begins the update, the last one applies it.
  void run(std::int64_t index);
  /// The same in two parts (--eager): tensor by tensor, up to the first that is not finite; and
  /// what follows where there was none.
  [[nodiscard]] std::optional<NonFinite> check(std::int64_t index);
  void end(std::int64_t index);
  /// What a replay of pass `index` launches (Recording::nodes()).
  [[nodiscard]] std::size_t launches(std::int64_t index) const;

 private:
  enum class Recorded { whole, around_sums, nothing };

  [[nodiscard]] RepeatedWork repeated(std::function<void()> work);
  void pass(std::int64_t index);
  void begin(std::int64_t index);
  void run_program();
  void end_program(std::int64_t index);

  Model& model_;
  Updater& updater_;
  Recorded recorded_;
  std::vector<RepeatedWork> work_;    // a pass: all of it, or what is before the sums over ranks
  std::vector<RepeatedWork> behind_;  // a pass: what is behind them; empty: they are recorded
};

}  // namespace trainyard
