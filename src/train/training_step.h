// The device's work in a step.
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

/// The passes of a step (GradientReducer::passes()), each recorded and replayed, for each place
/// that a batch may have (Model::batch_place()): as a whole, from the loaded batch to the step's
/// end, or, if all-reduces need the host (Communicator::recordable()), the work before and after
/// them. If the network itself contains such all-reduces, nothing is recorded.
class TrainingStep {
 public:
  /// Model and updater must outlive it.
  TrainingStep(Model& model, Updater& updater);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  /// Enqueues pass `index` with the loaded batch: forward, backward and the sums of loss and
  /// metrics; the last one applies the step.
  void run(std::int64_t index);
  /// The same in two parts (--eager): check() runs tensor by tensor up to the first that is not
  /// finite; end() does the rest if there was none.
  [[nodiscard]] std::optional<NonFinite> check();
  void end(std::int64_t index);
  /// Number of launches in a replay of pass `index` (Recording::nodes()).
  [[nodiscard]] std::size_t launches(std::int64_t index) const;

 private:
  enum class Recorded { whole, around_sums, nothing };

  [[nodiscard]] RepeatedWork repeated(std::function<void()> work);
  void pass(std::int64_t index);
  void run_program();
  void end_program(std::int64_t index);

  Model& model_;
  Updater& updater_;
  Recorded recorded_;
  std::vector<RepeatedWork> work_;    // per pass: all of it, or the part before the all-reduce
  std::vector<RepeatedWork> behind_;  // per pass: the part after it; empty if it is recorded
};

}  // namespace trainyard
