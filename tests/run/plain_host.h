// A trainer's host that saves and reports nothing.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "train/trainer.h"

namespace trainyard::test {

class PlainHost : public TrainerHost {
 public:
  using Stop = std::function<std::optional<Outcome>(const TrainingState&, bool edge)>;

  /// The clock goes on by `tick` seconds each time that it is read. `stop` as stop_reason().
  explicit PlainHost(
      double tick = 0, Stop stop = [](const TrainingState&, bool) { return std::nullopt; })
      : tick_(tick), stop_(std::move(stop)) {}
  double now() override { return clock_ += tick_; }
  std::optional<Outcome> stop_reason(const TrainingState& state, bool edge) override {
    return stop_(state, edge);
  }

 private:
  double tick_, clock_ = 0;
  Stop stop_;
};

}  // namespace trainyard::test
