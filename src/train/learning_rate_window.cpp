#include "train/learning_rate_window.h"

#include <span>

namespace trainyard {

LearningRateWindow::LearningRateWindow(const Compute& compute, const Schedule* schedule,
                                       const ScheduleContext& context)
    : queue_(compute.queue), schedule_(schedule), context_(context), window_(compute.device, 1) {}

void LearningRateWindow::prepare(std::int64_t step) {
  if (step < end_) return;
  RateWindow window{.first = step};
  for (std::int64_t i = 0; i < RateWindow::kRates; ++i) {
    window.rates[i] = schedule_ != nullptr ? schedule_->rate(step + i, context_) : context_.base;
  }
  window_.write(queue_, std::span(&window, 1));
  end_ = step + RateWindow::kRates;
}

}  // namespace trainyard
