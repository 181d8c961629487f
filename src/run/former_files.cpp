#include "run/former_files.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/read_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

/// Files that no start changes for a complete run, or that may be large.
constexpr std::array kLeftAlone = {".lock", "train.log", "steps.csv", "statistics.safetensors"};
constexpr std::uint64_t kMostFormerBytes = std::uint64_t{1} << 30;

/// The names of those that are looked after.
std::vector<std::string> record_files(const RunFolder& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& path : entries_of(folder.path())) {
    const std::string name = path.filename().string();
    const bool left = std::ranges::find(kLeftAlone, name) != kLeftAlone.end();
    if (!left && fs::is_regular_file(path, ignored)) names.push_back(name);
  }
  return names;
}

std::string text_now(const RunFolder& folder, const std::string& name) {
  return read_text(folder.file(name), ErrorKind::disk, kMostFormerBytes);
}

}  // namespace

FormerFiles::FormerFiles(const RunFolder& folder) {
  for (const std::string& name : record_files(folder)) texts_[name] = text_now(folder, name);
}

void FormerFiles::restore(const RunFolder& folder) const {
  for (const std::string& name : record_files(folder)) {
    if (!texts_.contains(name)) folder.disk().remove(folder.file(name));
  }
  std::error_code ignored;
  for (const auto& [name, text] : texts_) {
    const bool same = fs::exists(folder.file(name), ignored) && text_now(folder, name) == text;
    if (!same) folder.write(name, text);
  }
}

}  // namespace trainyard
