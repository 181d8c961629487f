// The line of an epoch for people, and the values in it.
#include <fmt/format.h>

#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {
namespace {

/// A smaller share of waiting, in percent, costs nothing worth a place in the line.
constexpr double kLeastDataWait = 1;

}  // namespace

std::vector<NamedValue> measured_values(const EpochRow& row) {
  std::vector<NamedValue> values = {{"loss", row.loss}};
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    if (value) values.push_back({name, *value});
  };
  add("reg_loss", row.reg_loss);
  add("total_loss", row.total_loss);
  for (const MetricValue& metric : row.metrics) add(metric.name, metric.training);
  add("val_loss", row.val_loss);
  for (const MetricValue& metric : row.metrics) add("val_" + metric.name, metric.validation);
  add("clean_loss", row.clean_loss);
  for (const MetricValue& metric : row.metrics) add("clean_" + metric.name, metric.clean);
  return values;
}

std::string epoch_text(LogStyle style, const EpochRow& row, const EpochContext& context) {
  const bool plain = style == LogStyle::plain;
  const char* const between = plain ? " " : ": ";
  std::vector<std::string> parts = {
      fmt::format("{} {}/{}", plain ? "epoch" : "Epoch", row.epoch, context.epochs)};
  if (plain) parts.push_back(fmt::format("step {}", row.step));
  parts.push_back((plain ? "time " : "") + seconds_text(row.epoch_s));
  if (!plain && context.step_seconds) parts.push_back(step_time_text(*context.step_seconds));
  for (const NamedValue& item : measured_values(row)) {
    parts.push_back(item.name + between + value_text(item.value));
  }
  parts.push_back(fmt::format("lr{}{:.3e}", between, row.lr));
  parts.push_back(rate_text(row.images_per_s, context.unit));
  if (row.data_wait_percent.value_or(0) >= kLeastDataWait) {
    parts.push_back(fmt::format("data wait {:.0f}%", *row.data_wait_percent));
  }
  if (context.eta_seconds) parts.push_back("eta " + duration_text(*context.eta_seconds));
  return joined(parts, plain ? " " : " - ").append(!row.is_best ? "" : plain ? " best" : " *");
}

}  // namespace trainyard
