#include "report/sinks.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

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

LogSink::LogSink(const Disk& disk, const Clock& clock, const std::filesystem::path& path,
                 const Banner& banner, std::int64_t epochs)
    : file_(disk, clock, path),
      epochs_(epochs),
      samples_a_step_(global_batch(banner)),
      judged_(banner.judged),
      unit_(banner.unit) {
  file_.write(banner_line(LogStyle::keras, banner));
  if (banner.resumed) file_.write(resumed_line(LogStyle::keras, *banner.resumed));
}

void LogSink::on_epoch(const EpochRow& row) {
  EpochContext context = epoch_context(row, epochs_, samples_a_step_);
  context.unit = unit_;
  file_.write(epoch_line(LogStyle::keras, row, context));
  if (row.is_best && !std::exchange(explained_, true)) file_.write(best_legend(judged_));
}

LogFile::LogFile(const Disk& disk, const Clock& clock, const std::filesystem::path& path)
    : clock_(clock), file_(disk, path) {}

void LogFile::write(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const std::string time = utc_text(clock_.utc_seconds());
  std::string lines;
  for (const std::string& line : split(without_escapes(text), '\n')) {
    lines += time + " " + line + "\n";
  }
  file_.append(lines);
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = static_cast<unsigned char>(text[i]);
    if (letter == 0x1b && i + 1 < text.size() && text[i + 1] == '[') {
      // Parameters are between '[' and the final letter, '@' to '~'.
      for (i += 2; i < text.size() && (text[i] < '@' || text[i] > '~'); ++i) {
      }
    } else if (letter >= ' ' && letter != 127) {
      plain += text[i];
    } else if (letter == '\n') {
      plain += '\n';
    }
  }
  return plain;
}

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
