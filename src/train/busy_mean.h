// Mean GPU utilization over an epoch.
#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace trainyard {

/// Mean of readings. Each covers up to one second before it, so they are at least a second apart:
/// read_if_due() is called often but reads rarely.
class BusyMean {
 public:
  static constexpr double kPeriodSeconds = 1;

  /// `read`: recent utilization in percent, or nothing.
  explicit BusyMean(std::function<std::optional<double>()> read) : read_(std::move(read)) {}

  /// Starts over: later readings cover nothing from before `now` (seconds).
  void start(double now) {
    asked_ = now;
    sum_ = 0;
    count_ = 0;
  }
  /// Reads if a period has passed since the last reading.
  void read_if_due(double now) {
    if (now - asked_ < kPeriodSeconds) return;
    asked_ = now;
    add_reading();
  }
  /// Mean of the readings since start(); if none was due yet, reads now. Empty if nothing was read.
  [[nodiscard]] std::optional<double> mean() {
    if (count_ == 0) add_reading();
    return count_ > 0 ? std::optional(sum_ / count_) : std::nullopt;
  }

 private:
  void add_reading() {
    const std::optional<double> percent = read_();
    if (!percent) return;
    sum_ += *percent;
    ++count_;
  }

  std::function<std::optional<double>()> read_;
  double asked_ = 0;  // time of the last reading, in seconds
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace trainyard
