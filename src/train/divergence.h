// Detects divergence and suspicious results from a run's measurements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "report/metrics.h"

namespace trainyard {

/// Where training diverged, for a message.
struct Divergence {
  std::int64_t step = 0;   // finished steps before it
  std::int64_t epoch = 0;  // finished epochs
  std::string where;       // position in the network file; "" if not known
  std::string text;        // what is wrong, and in which layer if known
  std::optional<double> loss;
  std::optional<double> rate;
  bool scales_loss = false;  // there is a loss scale that can be changed
};

/// Throws Error{diverged} with epoch, step, loss, learning rate and suggestions.
[[noreturn]] void report(const Divergence& divergence);

/// Compares each step's loss with the first one.
class LossLimit {
 public:
  /// Factor over the first loss, or over 1 if that is smaller: a resumed run with a small loss may
  /// see a single batch far above it.
  static constexpr double kFactor = 1e4;

  /// What is wrong with the next step's loss; "" if nothing.
  [[nodiscard]] std::string fault(double loss);

 private:
  std::optional<double> first_;
};

/// Warns, once per kind, of epochs whose results suggest a wrong setting.
class EpochWatch {
 public:
  using Warn = std::function<void(const std::string&)>;

  void look(const EpochRow& row, const Warn& warn);

 private:
  void look_at_loss(const EpochRow& row, const Warn& warn);
  void look_at_metric(const EpochRow& row, const Warn& warn);
  void look_for_nan(const EpochRow& row, const Warn& warn);

  bool loss_warned_ = false;
  bool metric_warned_ = false;
  std::set<std::string> nan_warned_;             // columns
  std::optional<double> training_, validation_;  // the first metric in the previous epoch
  double loss_ = 0;                              // the training loss in that epoch
  double highest_loss_ = 0;                      // highest of all epochs so far
  std::int64_t constant_epochs_ = 0;             // in a row, up to the last one
};

}  // namespace trainyard
