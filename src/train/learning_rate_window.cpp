#include "train/learning_rate_window.h"

#include <span>

namespace trainyard {

LearningRateWindow::LearningRateWindow(const Compute& compute, const Schedule* schedule,
                                       const ScheduleContext& context)
    : queue_(compute.queue), schedule_(schedule), context_(context), window_(compute.device, 1) {}

void LearningRateWindow::follow(const PlateauState& plateau, double min_rate) {
  const bool changed = plateau.factor != plateau_.factor;
  plateau_ = plateau;
  min_rate_ = min_rate;
  if (changed) reset();
}

double LearningRateWindow::rate_of(std::int64_t step) const {
  const double scheduled = schedule_ != nullptr ? schedule_->rate(step, context_) : context_.base;
  return plateau_rate(plateau_, min_rate_, scheduled);
}

bool LearningRateWindow::prepare(std::int64_t step) {
  if (step < end_) return false;
  RateWindow window{.first = step};
  for (std::int64_t i = 0; i < RateWindow::kRates; ++i) {
    window.rates[i] = rate_of(step + i);
  }
  window_.write(queue_, std::span(&window, 1));
  end_ = step + RateWindow::kRates;
  return true;
}

}  // namespace trainyard
