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

void LearningRateWindow::prepare(std::int64_t step) {
  if (step < end_) return;
  RateWindow window{.first = step};
  for (std::int64_t i = 0; i < RateWindow::kRates; ++i) {
    const double scheduled =
        schedule_ != nullptr ? schedule_->rate(step + i, context_) : context_.base;
    window.rates[i] = plateau_rate(plateau_, min_rate_, scheduled);
  }
  window_.write(queue_, std::span(&window, 1));
  end_ = step + RateWindow::kRates;
}

}  // namespace trainyard
