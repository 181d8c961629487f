// The mean over an epoch of how busy a GPU is.
#pragma once

#include <functional>
#include <optional>

namespace trainyard {

/// A mean of readings, each of which covers up to the second before it, so that they are a second
/// or more apart: it is told often of the time, and asks seldom.
class BusyMean {
 public:
  static constexpr double kPeriodSeconds = 1;

  /// `read`: percent of the last moments, or nothing.
  explicit BusyMean(std::function<std::optional<double>()> read);

  /// Begins anew: readings that are due from now on see nothing from before `now` (seconds).
  void start(double now);
  /// Reads if a period has passed since the last time.
  void read_if_due(double now);
  /// Of the readings since the start; where none was due yet, a reading of this moment. Empty if
  /// nothing was read.
  [[nodiscard]] std::optional<double> mean();

 private:
  void add_reading();

  std::function<std::optional<double>()> read_;
  double asked_ = 0;  // when, in seconds
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace trainyard
