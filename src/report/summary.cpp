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

std::string run_text(const SummaryDetails& details) {
  if (details.changes.empty()) return details.run;
  return fmt::format("{} (set: {})", details.run, joined(details.changes));
}

}  // namespace

std::string summary_text(const RunStatus& status, const SummaryDetails& details) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", name, value);
  };
  line("run", run_text(details));
  line("state",
       fmt::format("{} (exit code {})", name_of(status.state), status.exit_code.value_or(0)));
  line("message", status.message);
  line("epochs", with_separators(status.at.epoch));
  line("steps", with_separators(status.at.step));
  line("time", duration_text(details.seconds));
  if (status.best) line("best", best_values(*status.best, details.best_values));
  line("last", listed(details.last));
  if (!details.clean.values.empty()) {
    line("clean", fmt::format("{} (epoch {})", listed(details.clean.values), details.clean.epoch));
  }
  line("checkpoint", status.last_checkpoint);
  for (const std::string& warning : details.warnings) line("warning", warning);
  return text;
}

}  // namespace trainyard
