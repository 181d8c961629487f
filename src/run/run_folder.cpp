#include "run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "run/status.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLockName = ".lock";
constexpr const char* kCommandName = "command.txt";
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

void require_plain_name(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' && name.front() != '-' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char letter) {
                       return letter > ' ' && letter != '/' && letter != '\\' && letter != 127;
                     });
  if (plain) return;
  throw Error(
      ErrorKind::command_line,
      "--name: '" + name + "' is no plain folder name; use letters, digits, '_', '-' and '.'");
}

bool holds_something(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != kLockName) return true;
  }
  if (error) {
    throw Error(ErrorKind::disk,
                "cannot read the folder '" + folder.string() + "': " + error.message());
  }
  return false;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

[[noreturn]] void refuse_locked(const fs::path& path) {
  throw Error(ErrorKind::command_line, "another process is writing into '" + path.string() +
                                           "'; wait for its end, or name another folder");
}

}  // namespace

RunFolder::RunFolder(const Disk& disk, fs::path path) : disk_(&disk), path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : disk_(other.disk_), path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

bool RunFolder::lock() {
  const fs::path path = path_ / kLockName;
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    throw Error(ErrorKind::disk,
                "cannot write '" + path.string() + "': " + std::generic_category().message(errno));
  }
  return ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
}

void RunFolder::make_subfolders() const {
  for (const char* name : {"checkpoints", "weights", "plots"}) disk_->make_folders(path_ / name);
}

RunFolder RunFolder::create(const Disk& disk, const fs::path& root, const std::string& name) {
  require_plain_name(name);
  const fs::path parent = root / name;
  disk.make_folders(parent);
  const std::vector<std::int64_t> taken = run_numbers(parent);
  std::int64_t number = taken.empty() ? 1 : taken.front() + 1;
  while (!disk.make_folder(parent / numbered(number))) ++number;
  disk.sync_folder(parent);
  RunFolder folder(disk, parent / numbered(number));
  // Nobody else opens a folder that was made just now and holds no config.
  if (!folder.lock()) refuse_locked(folder.path_);
  folder.make_subfolders();
  return folder;
}

RunFolder RunFolder::create_at(const Disk& disk, const fs::path& path) {
  disk.make_folders(path);
  // Looked at before the lock too, so that a folder of somebody else's stays as it is.
  const auto refuse = [&] {
    throw Error(ErrorKind::command_line,
                "--out: '" + path.string() +
                    "' is not empty; name another folder, or go on with its run with --resume");
  };
  if (holds_something(path)) refuse();
  RunFolder folder(disk, path);
  if (!folder.lock()) refuse_locked(path);
  if (holds_something(path)) refuse();
  folder.make_subfolders();
  return folder;
}

RunFolder RunFolder::open(const Disk& disk, const fs::path& path) {
  if (!is_file(path / "config.yaml")) {
    throw Error(ErrorKind::command_line,
                "'" + path.string() + "' is no run folder: it holds no config.yaml");
  }
  RunFolder folder(disk, path);
  if (!folder.lock()) refuse_locked(path);
  folder.make_subfolders();
  return folder;
}

fs::path RunFolder::subfolder(std::string_view name) const {
  disk_->make_folders(path_ / name);
  return path_ / name;
}

void RunFolder::write_record(const RunRecord& record) const {
  write("config.orig.yaml", record.original_yaml);
  write(kCommandName, record.command + "\n");
  write("run.json", record.run_json);
  write("config.yaml", record.config_yaml);  // last: with it the folder can be resumed
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

bool is_run_folder(const fs::path& path) {
  std::error_code ignored;
  return is_file(path / "config.yaml") &&
         (is_file(path / "status.json") || fs::is_directory(path / "checkpoints", ignored));
}

std::optional<fs::path> newest_unfinished_run(const fs::path& root, const std::string& name) {
  for (const std::int64_t number : run_numbers(root / name)) {
    const fs::path path = root / name / numbered(number);
    if (!is_run_folder(path)) continue;
    const auto status = read_status(path / "status.json");
    if (!status || status->state != name_of(RunState::completed)) return path;
  }
  return std::nullopt;
}

std::optional<fs::path> completed_run(const fs::path& root, const std::string& name,
                                      std::string_view config_hash) {
  for (const std::int64_t number : run_numbers(root / name)) {
    const fs::path path = root / name / numbered(number);
    const auto status = read_status(path / "status.json");
    const bool done = status && status->state == name_of(RunState::completed);
    if (done && status->config_hash == config_hash) return path;
  }
  return std::nullopt;
}

}  // namespace trainyard
