#include "report/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/host.h"
#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {

namespace fs = std::filesystem;

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
  if (error) throw Error(ErrorKind::disk, "cannot cut '" + path.string() + "': " + error.message());
}

void EventFile::append(std::int64_t step, const EventSummary& summary) {
  if (!summary.empty()) file_->append(summary_record(at(step), summary));
}

}  // namespace trainyard
