#include "report/status_file.h"

#include <exception>
#include <utility>

namespace trainyard {

StatusFile::StatusFile(const Disk& disk, const Clock& clock, const ProgressNote& progress,
                       std::filesystem::path path, std::chrono::milliseconds between)
    : disk_(disk), clock_(clock), progress_(progress), path_(std::move(path)), between_(between) {}

void StatusFile::write(const RunStatus& status) {
  const std::lock_guard lock(mutex_);
  status_ = status;
  replace();
  if (thread_.joinable() || status_.exit_code) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { keep_up_to_date(stop); });
}

void StatusFile::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void StatusFile::replace() {
  status_.updated = clock_.utc_seconds();
  status_.at = progress_.now();
  disk_.replace_file(path_, status_text(status_));
}

void StatusFile::keep_up_to_date(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    ended_.wait_for(lock, stop, between_, [] { return false; });
    if (stop.stop_requested() || status_.exit_code) return;
    try {
      replace();
    } catch (const std::exception&) {
      // If the disk cannot be written, the run ends when it saves; until then the file shows its
      // age.
    }
  }
}

}  // namespace trainyard
