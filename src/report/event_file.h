// A file of TensorBoard's events that a run appends to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "formats/tensorboard.h"

namespace trainyard {

/// The events of one curve folder, counted by epoch or by step. Each start of a run has a file of
/// its own there, since TensorBoard does not read again what it has read.
class EventFile {
 public:
  /// Opens a new file in `folder` for a run that continues after `last` (0: from the start).
  /// Earlier files lose the events after `last`, and what follows a damaged record. Disk and clock
  /// must outlive it. Throws Error{disk}.
  EventFile(const Disk& disk, const Clock& clock, const std::filesystem::path& folder,
            std::int64_t last);

  /// One write(2); nothing if `summary` is empty.
  void append(std::int64_t step, const EventSummary& summary);
  void sync() { file_->sync(); }
  /// Of texts and images about what follows.
  [[nodiscard]] std::int64_t first_step() const { return first_step_; }
  /// A warning about a damaged file, or "".
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  [[nodiscard]] EventPlace at(std::int64_t step) const { return {clock_.utc_seconds(), step}; }
  void cut(const std::filesystem::path& path);

  const Disk& disk_;
  const Clock& clock_;
  std::int64_t first_step_;
  std::string warning_;
  std::optional<AppendFile> file_;
};

}  // namespace trainyard
