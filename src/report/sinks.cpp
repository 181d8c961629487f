#include "report/sinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/host.h"
#include "base/read_file.h"
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

constexpr std::string_view kVal = "val_", kClean = "clean_";
/// Columns of the position, which is TensorBoard's step.
constexpr std::array<std::string_view, 3> kPosition = {"epoch", "step", "samples"};

/// The values whose columns begin with `prefix`, under their names without it.
EventSummary summary_of(const std::vector<NamedValue>& values, const std::string& group,
                        std::string_view prefix) {
  EventSummary summary;
  for (const auto& [name, value] : values) {
    const bool other = name.starts_with(kVal) || name.starts_with(kClean);
    if (prefix.empty() ? other : !name.starts_with(prefix)) continue;
    if (std::ranges::find(kPosition, name) != kPosition.end()) continue;
    summary.scalar(group + "/" + name.substr(prefix.size()), value);
  }
  return summary;
}

}  // namespace

LogSink::LogSink(const Disk& disk, const Clock& clock, const fs::path& path, const Banner& banner,
                 std::int64_t epochs)
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

LogFile::LogFile(const Disk& disk, const Clock& clock, const fs::path& path)
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

TensorboardSink::TensorboardSink(const Disk& disk, const Clock& clock, const fs::path& folder,
                                 const TensorboardOptions& options)
    : columns_(options.columns),
      train_(disk, clock, folder / "train", options.from.epoch),
      validation_(disk, clock, folder / "validation", options.from.epoch) {
  if (columns_.clean) clean_.emplace(disk, clock, folder / "clean", options.from.epoch);
  if (options.with_steps) steps_.emplace(disk, clock, folder / "steps", options.from.step);
  const TensorboardHead& head = options.head;
  EventSummary train, val;
  train.verbatim("config", head.config);
  if (head.train_samples) train.image("samples", *head.train_samples);
  if (head.val_samples) val.image("samples", *head.val_samples);
  train_.append(train_.first_step(), train);
  validation_.append(validation_.first_step(), val);
}

std::vector<EventFile*> TensorboardSink::files() {
  std::vector<EventFile*> all = {&train_, &validation_};
  if (clean_) all.push_back(&*clean_);
  if (steps_) all.push_back(&*steps_);
  return all;
}

void TensorboardSink::on_epoch(const EpochRow& row) {
  const std::vector<NamedValue> values =
      measured(epoch_columns(columns_), epoch_fields(columns_, row));
  train_.append(row.epoch, summary_of(values, "epoch", ""));
  validation_.append(row.epoch, summary_of(values, "epoch", kVal));
  if (clean_) clean_->append(row.epoch, summary_of(values, "epoch", kClean));
}

void TensorboardSink::on_step(const StepRow& row) {
  if (!steps_) return;
  steps_->append(row.step, summary_of(measured(step_columns(), step_fields(row)), "step", ""));
}

void TensorboardSink::sync() {
  for (EventFile* file : files()) file->sync();
}

std::vector<std::string> TensorboardSink::warnings() {
  std::vector<std::string> all;
  for (const EventFile* file : files()) {
    if (!file->warning().empty()) all.push_back(file->warning());
  }
  return all;
}

namespace {

constexpr std::string_view kEvents = "events.out.tfevents.";
constexpr std::size_t kTimeDigits = 10;
constexpr std::uint64_t kMostEventBytes = std::uint64_t{4} << 30;

/// The event files of a folder, in the order in which TensorBoard reads them: by name.
std::vector<fs::path> event_files(const fs::path& folder) {
  std::vector<fs::path> files = entries_of(folder);
  std::erase_if(
      files, [](const fs::path& path) { return !path.filename().string().starts_with(kEvents); });
  std::ranges::sort(files);
  return files;
}

/// The time in a file's name.
std::int64_t time_of(const fs::path& path) {
  return parse_integer(path.filename().string().substr(kEvents.size(), kTimeDigits)).value_or(0);
}

}  // namespace

EventFile::EventFile(const Disk& disk, const Clock& clock, const fs::path& folder,
                     std::int64_t last)
    : disk_(disk), clock_(clock), first_step_(last > 0 ? last + 1 : 0) {
  disk.make_folders(folder);
  std::int64_t time = clock.utc_seconds();
  for (const fs::path& path : event_files(folder)) {
    time = std::max(time, time_of(path) + 1);
    cut(path);
  }
  file_.emplace(disk, folder / fmt::format("{}{:010}.{}", kEvents, time, host_name()));
  file_->append(version_record(at(first_step_)));
  file_->append(start_record(at(first_step_)));
  disk.sync_folder(folder);
}

void EventFile::cut(const fs::path& path) {
  const std::string text = read_text(path, ErrorKind::disk, kMostEventBytes);
  const EventsBefore kept = events_before(text, first_step_);
  if (kept.damaged) {
    warning_ = fmt::format(
        "{}: no whole record of TensorBoard at byte {}: it and what follows was "
        "cut off; metrics.csv has all the numbers",
        path.string(), kept.bytes);
  }
  if (kept.bytes == text.size()) return;
  if (kept.bytes == 0) return disk_.remove(path);
  std::error_code error;
  fs::resize_file(path, kept.bytes, error);
  if (error) throw disk_error("cannot cut '" + path.string() + "': " + error.message());
}

void EventFile::append(std::int64_t step, const EventSummary& summary) {
  if (!summary.empty()) file_->append(summary_record(at(step), summary));
}

}  // namespace trainyard
