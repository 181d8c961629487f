#include "train/busy_mean.h"

#include <utility>

namespace trainyard {

BusyMean::BusyMean(std::function<std::optional<double>()> read) : read_(std::move(read)) {}

void BusyMean::start(double now) {
  asked_ = now;
  sum_ = 0;
  count_ = 0;
}

void BusyMean::add_reading() {
  const std::optional<double> percent = read_();
  if (!percent) return;
  sum_ += *percent;
  ++count_;
}

void BusyMean::read_if_due(double now) {
  if (now - asked_ < kPeriodSeconds) return;
  asked_ = now;
  add_reading();
}

std::optional<double> BusyMean::mean() {
  if (count_ == 0) add_reading();
  if (count_ == 0) return std::nullopt;
  return sum_ / count_;
}

}  // namespace trainyard
