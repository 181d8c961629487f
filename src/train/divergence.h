// Judges a run by what it measures: is it diverging, is something wrong with it?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "report/metrics.h"

namespace trainyard {

/// Where training diverged, as a message has it.
struct Divergence {
  std::int64_t step = 0;   // finished updates before it
  std::int64_t epoch = 0;  // finished epochs
  std::string where;       // in the network's file; "" if not known
  std::string text;        // what is wrong, and in which layer if that is known
  std::optional<double> loss;
  std::optional<double> rate;
  bool scales_loss = false;  // there is a loss scale to change
};

/// Throws Error{diverged}: epoch, step, loss and rate, and what to try.
[[noreturn]] void report(const Divergence& divergence);

/// Compares each step's loss with the first one.
class LossLimit {
 public:
  /// Times the first loss, or 1 if that is below: a run that goes on with a small loss may see a
  /// single batch that is far above it.
  static constexpr double kFactor = 1e4;

  /// What is wrong with the loss of the next step; "" if nothing is.
  [[nodiscard]] std::string fault(double loss);

 private:
  std::optional<double> first_;
};

/// Warns, once of each kind, of epochs that look as if a setting were wrong.
class EpochWatch {
 public:
  using Warn = std::function<void(const std::string&)>;

  void look(const EpochRow& row, const Warn& warn);

 private:
  void look_at_loss(const EpochRow& row, const Warn& warn);
  void look_at_metric(const EpochRow& row, const Warn& warn);

  bool loss_warned_ = false;
  bool metric_warned_ = false;
  std::optional<double> training_, validation_;  // the first metric, an epoch ago
  std::int64_t constant_epochs_ = 0;             // in a row, until the last one
};

}  // namespace trainyard
