// Keeps status.json up to date while the run is busy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "report/progress.h"
#include "report/status.h"

namespace trainyard {

/// Writes status.json at once when the run tells it to, and every 10 seconds by a thread of its
/// own: `updated` says that the process lives, whatever it is busy with, and `progressed` that it
/// gets on.
class StatusFile {
 public:
  /// The references must outlive it. The thread begins with the first write().
  StatusFile(const Disk& disk, const Clock& clock, const ProgressNote& progress,
             std::filesystem::path path,
             std::chrono::milliseconds between = std::chrono::seconds(10));
  /// Replaces the file, from then on with what `status` says besides the progress. After one with
  /// an exit code the thread writes no more. Throws Error{disk}.
  void write(const RunStatus& status);
  /// Nothing is written afterwards but by write().
  void stop();

 private:
  void replace();
  void keep_up_to_date(const std::stop_token& stop);

  const Disk& disk_;
  const Clock& clock_;
  const ProgressNote& progress_;
  std::filesystem::path path_;
  std::chrono::milliseconds between_;
  std::mutex mutex_;  // held while the file is written
  RunStatus status_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace trainyard
