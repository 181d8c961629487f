// The learning rates of the next steps, and Lookahead's pulls, in device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device/device.h"
#include "model/compute.h"
#include "optim/lookahead.h"
#include "optim/schedule.h"
#include "optim/step_functors.h"

namespace trainyard {

/// Kernels read the learning rate from a window of RateWindow::kRates steps, so that a recorded
/// step needs nothing from the host. The host refills the window when its end is reached.
class LearningRateWindow {
 public:
  /// `schedule` may be null: `context.base` for every step. Device, queue and schedule must
  /// outlive it.
  LearningRateWindow(const Compute& compute, const Schedule* schedule,
                     const ScheduleContext& context,
                     const std::optional<Lookahead>& lookahead = std::nullopt)
      : queue_(compute.queue),
        schedule_(schedule),
        context_(context),
        lookahead_(lookahead),
        window_(compute.device, 1) {}

  /// Discards what is on the device: prepare() refills it.
  void reset() { end_ = 0; }
  /// Multiplies the learning rates of the following steps, see plateau_rate().
  void follow(const PlateauState& plateau, double min_rate) {
    const bool changed = plateau.factor != plateau_.factor;
    plateau_ = plateau;
    min_rate_ = min_rate;
    if (changed) reset();
  }
  /// Copies the learning rates from step `step` (counted from 0) on, unless the device has that
  /// one: then it returns false.
  bool prepare(std::int64_t step) {
    if (step < end_) return false;
    RateWindow window{.first = step};
    for (std::int64_t i = 0; i < RateWindow::kRates; ++i) {
      window.rates[i] = rate_of(step + i);
      if (lookahead_) window.pulls[i] = lookahead_->pull_after(step + i, context_);
    }
    window_.write(queue_, std::span(&window, 1));
    end_ = step + RateWindow::kRates;
    return true;
  }
  /// The rate of step `step`, without the optimizer's own decay.
  [[nodiscard]] double rate_of(std::int64_t step) const {
    const double scheduled = schedule_ != nullptr ? schedule_->rate(step, context_) : context_.base;
    return plateau_rate(plateau_, min_rate_, scheduled);
  }
  /// On the device.
  [[nodiscard]] const RateWindow* data() const { return window_.data(); }

 private:
  Queue& queue_;
  const Schedule* schedule_;
  ScheduleContext context_;
  std::optional<Lookahead> lookahead_;
  PlateauState plateau_;
  double min_rate_ = 0;
  std::int64_t end_ = 0;            // the first step after the window
  DeviceArray<RateWindow> window_;  // one element
};

}  // namespace trainyard
