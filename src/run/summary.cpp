#include "run/summary.h"

#include <fmt/format.h>

#include "base/text.h"
#include "run/epoch_line.h"

namespace trainyard {

namespace {

std::string last_values(const EpochRow& row) {
  std::string text = "loss " + value_text(row.loss);
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    if (value) text += fmt::format(", {} {}", name, value_text(*value));
  };
  for (const MetricValue& metric : row.metrics) add(metric.name, metric.training);
  add("val_loss", row.val_loss);
  for (const MetricValue& metric : row.metrics) add("val_" + metric.name, metric.validation);
  return text;
}

}  // namespace

std::string summary_text(const RunSummary& summary) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", name, value);
  };
  line("run", summary.run);
  line("state", fmt::format("{} (exit code {})", name_of(summary.state), summary.exit_code));
  line("message", summary.message);
  line("epochs", with_separators(summary.epochs));
  line("steps", with_separators(summary.step));
  line("time", duration_text(summary.seconds));
  if (summary.best) {
    line("best", fmt::format("{} {} (epoch {})", summary.best->metric,
                             value_text(summary.best->value), summary.best->epoch));
  }
  if (summary.last) line("last", last_values(*summary.last));
  line("checkpoint", summary.last_checkpoint);
  for (const std::string& warning : summary.warnings) line("warning", warning);
  return text;
}

}  // namespace trainyard
