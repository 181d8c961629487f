#include "report/summary.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

std::string listed(const std::vector<NamedValue>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value_text(value));
  }
  return text;
}

/// The best metric's value, the other values of its epoch, and the epoch.
std::string best_values(const BestValue& best, const std::vector<NamedValue>& values) {
  std::string text = best.metric + " " + value_text(best.value);
  for (const auto& [name, value] : values) {
    if (name != best.metric) text += fmt::format(", {} {}", name, value_text(value));
  }
  return fmt::format("{} (epoch {})", text, best.epoch);
}

std::string run_text(const RunSummary& summary) {
  if (summary.changes.empty()) return summary.run;
  return fmt::format("{} (set: {})", summary.run, joined(summary.changes));
}

}  // namespace

std::string summary_text(const RunSummary& summary) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", name, value);
  };
  line("run", run_text(summary));
  line("state", fmt::format("{} (exit code {})", name_of(summary.state), summary.exit_code));
  line("message", summary.message);
  line("epochs", with_separators(summary.epochs));
  line("steps", with_separators(summary.step));
  line("time", duration_text(summary.seconds));
  if (summary.best) line("best", best_values(*summary.best, summary.best_values));
  line("last", listed(summary.last));
  if (!summary.clean.values.empty()) {
    line("clean", fmt::format("{} (epoch {})", listed(summary.clean.values), summary.clean.epoch));
  }
  line("checkpoint", summary.last_checkpoint);
  for (const std::string& warning : summary.warnings) line("warning", warning);
  return text;
}

}  // namespace trainyard
