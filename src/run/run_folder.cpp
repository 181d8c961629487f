#include "run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/checkpoint_files.h"
#include "report/status.h"

namespace trainyard {
namespace {

constexpr const char* kLockName = ".lock";
constexpr const char* kCommandName = "command.txt";
constexpr const char* kConfigName = "config.yaml";
constexpr const char* kTemporary = ".tmp-";
constexpr std::array kSubfolders = {"checkpoints", "weights", "plots"};
/// Files that a start may have written if it fails before config.yaml, the last file of the record.
constexpr std::array kStartNames = {kLockName,    "status.json", "summary.txt", "config.orig.yaml",
                                    kCommandName, "run.json",    "network.txt"};
constexpr std::uint64_t kMostCommandBytes = 1u << 20;

std::string numbered(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

/// The numbers of the runs in `folder`, highest first. Empty if it is missing.
std::vector<std::int64_t> run_numbers(const fs::path& folder) {
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const auto number = parse_integer(name);
    if (number && *number > 0 && name == numbered(*number)) numbers.push_back(*number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers;
}

bool is_temporary(const fs::path& path) { return path.filename().string().starts_with(kTemporary); }

/// True for what a failed start may leave: files of the record, folders without a result.
bool is_left_by_start(const fs::path& path) {
  std::error_code ignored;
  const std::string name = path.filename().string();
  const bool folder = std::find(kSubfolders.begin(), kSubfolders.end(), name) != kSubfolders.end();
  if (folder && fs::is_directory(path, ignored)) {
    const std::vector<fs::path> inside = entries_of(path);
    return std::all_of(inside.begin(), inside.end(), is_temporary);
  }
  return is_temporary(path) ||
         std::find(kStartNames.begin(), kStartNames.end(), name) != kStartNames.end();
}

/// True if `folder` contains something that a new run must not touch. Without the lock file,
/// nothing in it belongs to a run.
bool holds_something(const fs::path& folder) {
  const std::vector<fs::path> inside = entries_of(folder);
  std::error_code ignored;
  if (!fs::exists(folder / kLockName, ignored)) return !inside.empty();
  return !std::all_of(inside.begin(), inside.end(), is_left_by_start);
}

/// `path` and the folders above it that do not exist, deepest first.
std::vector<fs::path> missing_folders(fs::path path) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (; !path.empty() && !fs::exists(path, ignored); path = path.parent_path()) {
    missing.push_back(path);
  }
  return missing;
}

/// Disk::make_folder() in `parent`, which is created too.
bool make_folder_in(const Disk& disk, const fs::path& parent, const std::string& name) {
  while (true) {
    disk.make_folders(parent);
    try {
      return disk.make_folder(parent / name);
    } catch (const Error&) {
      std::error_code ignored;
      // A start that failed at this moment may have removed the empty folder that it had created.
      if (fs::exists(parent, ignored)) throw;
    }
  }
}

/// Throws Error{command_line} for a folder that --out must not touch.
void require_free(const fs::path& path) {
  if (!holds_something(path)) return;
  refuse_command("--out: '" + path.string() + "' is not empty; name another folder" +
                 (is_run_folder(path) ? ", or continue its run with --resume" : ""));
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

[[noreturn]] void refuse_locked(const fs::path& path) {
  refuse_command("another process is writing into '" + path.string() +
                 "'; wait until it ends, or name another folder");
}

}  // namespace

void require_plain_name(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' && name.front() != '-' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char letter) {
                       return letter > ' ' && letter != '/' && letter != '\\' && letter != 127;
                     });
  if (plain) return;
  refuse_command(
      "--name: '" + name +
      "' is not a plain folder name: it must have no blanks, no '/' and no '\\', and begin "
      "with neither '.' nor '-'");
}

RunFolder::RunFolder(const Disk& disk, fs::path path) : disk_(&disk), path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : disk_(other.disk_),
      path_(std::move(other.path_)),
      made_(std::move(other.made_)),
      lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

bool RunFolder::lock() {
  const fs::path path = path_ / kLockName;
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
  const std::string reason = std::generic_category().message(errno);
  if (lock_ < 0 || !is_file(path)) {
    throw disk_error("cannot write '" + path.string() +
                     "': " + (lock_ < 0 ? reason : "it is not a regular file") +
                     "; move it away, then try again");
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return true;
  (void)another_holds_lock(errno, path);
  return false;
}

void RunFolder::make_subfolders() const {
  for (const char* name : kSubfolders) disk_->make_folders(path_ / name);
}

void RunFolder::remove_temporary_files() const {
  std::vector<fs::path> folders = {path_};
  std::error_code ignored;
  for (const fs::path& path : entries_of(path_)) {
    if (!is_temporary(path) && fs::is_directory(path, ignored)) folders.push_back(path);
  }
  for (const fs::path& folder : folders) {
    for (const fs::path& path : entries_of(folder)) {
      if (is_temporary(path)) disk_->remove(path);
    }
  }
}

RunFolder RunFolder::create(const Disk& disk, const fs::path& root, const std::string& name) {
  require_plain_name(name);
  const fs::path parent = root / name;
  std::vector<fs::path> made = missing_folders(parent);
  const std::vector<std::int64_t> taken = run_numbers(parent);
  std::int64_t number = taken.empty() ? 1 : taken.front() + 1;
  while (!make_folder_in(disk, parent, numbered(number))) ++number;
  disk.sync_folder(parent);
  RunFolder folder(disk, parent / numbered(number));
  folder.made_ = std::move(made);
  folder.made_.insert(folder.made_.begin(), folder.path_);
  // No other process opens a folder that was just created and has no config.
  if (!folder.lock()) refuse_locked(folder.path_);
  folder.make_subfolders();
  return folder;
}

void RunFolder::require_place(const Disk& disk, const fs::path& root, const std::string& name) {
  require_plain_name(name);
  disk.try_folder(root / name);
}

void RunFolder::require_place_at(const Disk& disk, const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) require_free(path);
  disk.try_folder(path);
}

RunFolder RunFolder::create_at(const Disk& disk, const fs::path& path) {
  std::vector<fs::path> made = missing_folders(path);
  disk.make_folders(path);
  // Checked before the lock too, so that a foreign folder stays unchanged.
  require_free(path);
  RunFolder folder(disk, path);
  folder.made_ = std::move(made);
  if (!folder.lock()) refuse_locked(path);
  require_free(path);
  folder.make_subfolders();
  folder.remove_temporary_files();
  return folder;
}

RunFolder RunFolder::open(const Disk& disk, const fs::path& path) {
  if (!is_file(path / kConfigName)) {
    refuse_command("'" + path.string() + "' is not a run folder: it has no config.yaml");
  }
  RunFolder folder(disk, path);
  if (!folder.lock()) refuse_locked(path);
  folder.make_subfolders();
  folder.remove_temporary_files();
  return folder;
}

fs::path RunFolder::subfolder(std::string_view name) const {
  disk_->make_folders(path_ / name);
  return path_ / name;
}

void RunFolder::discard() const {
  std::error_code ignored;
  try {
    for (const fs::path& path : entries_of(path_)) {
      if (is_left_by_start(path)) disk_->remove(path);
    }
  } catch (const Error&) {
    return;  // the error that ended the start is the one to report
  }
  for (const fs::path& folder : made_) fs::remove(folder, ignored);  // stays unless empty
}

void RunFolder::add_command(std::string_view command) const {
  std::string text;
  if (is_file(path_ / kCommandName)) {
    text = read_text(path_ / kCommandName, ErrorKind::disk, kMostCommandBytes);
  }
  write(kCommandName, text + std::string(command) + "\n");
}

void RunFolder::write(std::string_view name, std::string_view text) const {
  disk_->replace_file(path_ / name, text);
}

bool another_holds_lock(int error_number, const fs::path& path) {
  if (error_number == EWOULDBLOCK) return true;
  const bool none = error_number == ENOLCK || error_number == EOPNOTSUPP || error_number == ENOSYS;
  throw disk_error("cannot lock '" + path.string() +
                   "': " + std::generic_category().message(error_number) +
                   (none ? "; its file system has no locks, as is common on network file systems: "
                           "enable them there, or choose a folder on another one with --out"
                         : ""));
}

bool is_locked(const fs::path& path) {
  const fs::path lock = path / kLockName;
  const int descriptor = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == ENOENT) return false;
  if (descriptor < 0) {
    throw disk_error("cannot read '" + lock.string() +
                     "': " + std::generic_category().message(errno));
  }
  const int error_number = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
  ::close(descriptor);
  return error_number != 0 && another_holds_lock(error_number, lock);
}

bool is_run_folder(const fs::path& path) {
  std::error_code ignored;
  return is_file(path / kConfigName) &&
         (is_file(path / "status.json") || fs::is_directory(path / "checkpoints", ignored));
}

std::optional<fs::path> newest_run(const fs::path& folder) {
  for (const std::int64_t number : run_numbers(folder)) {
    if (is_run_folder(folder / numbered(number))) return folder / numbered(number);
  }
  return std::nullopt;
}

std::optional<fs::path> newest_unfinished_run(const fs::path& root, const std::string& name) {
  for (const std::int64_t number : run_numbers(root / name)) {
    const fs::path path = root / name / numbered(number);
    if (!is_run_folder(path)) continue;
    const auto status = read_status(path / "status.json");
    if (!status || status->state != RunState::completed) return path;
  }
  return std::nullopt;
}

std::vector<fs::path> completed_runs(const fs::path& root, const std::string& name,
                                     std::string_view config_hash) {
  std::vector<fs::path> runs;
  for (const std::int64_t number : run_numbers(root / name)) {
    const fs::path path = root / name / numbered(number);
    const auto status = read_status(path / "status.json");
    const bool done = status && status->state == RunState::completed;
    if (done && status->config_hash == config_hash) runs.push_back(path);
  }
  return runs;
}

namespace {

struct JudgedState {
  std::int64_t step_in_epoch = 0, best_epoch = 0;
};

/// Empty for a checkpoint that is damaged, or whose state is of no run.
std::optional<JudgedState> judged_state(const fs::path& folder, const CheckpointEntry& entry) {
  try {
    const LoadedCheckpoint loaded = load_checkpoint_state(folder / entry.file_name);
    if (loaded.epoch != entry.epoch || loaded.step != entry.step) return std::nullopt;
    return JudgedState{.step_in_epoch = loaded.state.at("step_in_epoch"),
                       .best_epoch = loaded.state.at("best_epoch")};
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::checkpoint) throw;
    return std::nullopt;
  }
}

}  // namespace

std::optional<CheckpointEntry> checkpoint_after_epoch(const fs::path& folder, std::int64_t epoch) {
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    if (entry.epoch != epoch) continue;
    const std::optional<JudgedState> state = judged_state(folder, entry);
    if (state && state->step_in_epoch == 0) return entry;
  }
  return std::nullopt;
}

std::optional<BestCheckpoint> best_checkpoint(const fs::path& folder) {
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    const std::optional<JudgedState> state = judged_state(folder, entry);
    if (!state) continue;
    if (state->best_epoch == 0) return BestCheckpoint{};
    return BestCheckpoint{.epoch = state->best_epoch,
                          .checkpoint = checkpoint_after_epoch(folder, state->best_epoch)};
  }
  return std::nullopt;
}

}  // namespace trainyard
