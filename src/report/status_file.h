// Keeps status.json up to date during a run.
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

/// Writes status.json immediately on write(), and every 10 seconds from its own thread: `updated`
/// shows that the process is alive, whatever it is doing, and `progressed` that it makes progress.
class StatusFile {
 public:
  /// The references must outlive it. The thread starts with the first write().
  StatusFile(const Disk& disk, const Clock& clock, const ProgressNote& progress,
             std::filesystem::path path,
             std::chrono::milliseconds between = std::chrono::seconds(10));
  /// Replaces the file now, and uses all of `status` but its progress from then on. After a status
  /// with an exit code the thread writes nothing more. Throws Error{disk}.
  void write(const RunStatus& status);
  /// Afterwards only write() writes the file.
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
  std::jthread thread_;  // last, so that it ends before the members it uses
};

}  // namespace trainyard
