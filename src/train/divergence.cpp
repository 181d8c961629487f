#include "train/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "report/nan_values.h"

namespace trainyard {
namespace {

/// A val_loss above this many times the training loss gives a warning.
constexpr double kFarApart = 100;
/// Epochs in a row with an unchanged metric on both splits before a warning.
constexpr std::int64_t kConstantEpochs = 3;
/// A training loss that changes by less than this share is constant,
constexpr double kConstantLoss = 1e-3;
/// and above this share of the highest so far it has not fallen: something else has converged.
constexpr double kFallenLoss = 0.9;

}  // namespace

void report(const Divergence& divergence) {
  std::string message = divergence.where.empty() ? "" : divergence.where + ": ";
  message += fmt::format("training diverged at step {} (epoch {}): {}", divergence.step + 1,
                         divergence.epoch + 1, divergence.text);
  if (divergence.loss) message += fmt::format("; loss {:.5g}", *divergence.loss);
  if (divergence.rate) message += fmt::format("; learning rate {:.4g}", *divergence.rate);
  message += "; lower the learning rate, add a warm-up or set 'clip_norm'";
  if (divergence.scales_loss) message += ", or change 'loss_scale'";
  throw Error(ErrorKind::diverged, message);
}

std::string LossLimit::fault(double loss) {
  if (!first_) first_ = loss;
  if (!std::isfinite(loss)) return "the loss is not finite";
  const double limit = kFactor * std::max(*first_, 1.0);
  if (loss <= limit) return "";
  return fmt::format("the loss started at {:.4g} and is now above {:g}", *first_, limit);
}

void EpochWatch::look(const EpochRow& row, const Warn& warn) {
  look_at_loss(row, warn);
  look_at_metric(row, warn);
  look_for_nan(row, warn);
}

void EpochWatch::look_for_nan(const EpochRow& row, const Warn& warn) {
  NanValues values;
  const auto look = [&](const std::string& name, const std::optional<double>& value,
                        std::int64_t counted, const std::string& fault) {
    if (!value || !std::isnan(*value) || !nan_warned_.insert(name).second) return;
    values.add(name, *value, counted, fault);
  };
  look("loss", row.loss, row.counted, "");
  for (const MetricValue& metric : row.metrics) look(metric.name, metric.training, row.counted, "");
  look("val_loss", row.val_loss, row.val_counted, "");
  for (const MetricValue& metric : row.metrics) {
    look("val_" + metric.name, metric.validation, row.val_counted, metric.fault);
  }
  for (const std::string& line : values.lines()) {
    warn(
        fmt::format("epoch {}: not a number: {}; such an epoch is neither the best nor without "
                    "improvement",
                    row.epoch, line));
  }
}

void EpochWatch::look_at_loss(const EpochRow& row, const Warn& warn) {
  if (loss_warned_ || !row.val_loss || !(*row.val_loss > 1)) return;
  if (!(*row.val_loss > kFarApart * row.loss)) return;
  loss_warned_ = true;
  warn(fmt::format(
      "epoch {}: val_loss {:.4g} is {:.0f} times the training loss; do both splits have "
      "the same classes and preprocessing, and have the running statistics of batch norm "
      "had enough steps ('momentum')?",
      row.epoch, *row.val_loss, *row.val_loss / row.loss));
}

void EpochWatch::look_at_metric(const EpochRow& row, const Warn& warn) {
  if (metric_warned_ || row.metrics.empty()) return;
  const MetricValue& metric = row.metrics.front();
  const bool same = metric.training == training_ && metric.validation == validation_ &&
                    std::abs(row.loss - loss_) <= kConstantLoss * loss_;
  constant_epochs_ = same ? constant_epochs_ + 1 : 1;
  training_ = metric.training;
  validation_ = metric.validation;
  loss_ = row.loss;
  highest_loss_ = std::max(highest_loss_, row.loss);
  const bool perfect = metric.training == 1.0;
  const bool fallen = row.loss < kFallenLoss * highest_loss_;
  if (constant_epochs_ < kConstantEpochs || perfect || fallen) return;
  metric_warned_ = true;
  std::string numbers = fmt::format("loss {:.4g}", row.loss);
  if (metric.training) numbers += fmt::format(", {} {:.4f}", metric.name, *metric.training);
  if (metric.validation) numbers += fmt::format(", val_{} {:.4f}", metric.name, *metric.validation);
  warn(
      fmt::format("nothing is learnt: {} have not changed for {}; is the learning rate 0 or "
                  "far too high, or are the layers frozen?",
                  numbers, count_text(constant_epochs_, "epoch")));
}

}  // namespace trainyard
