#include "data/sets/file_walk.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace trainyard {
namespace {

/// The entries of a folder that are not hidden.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().front() != '.') entries.push_back(*at);
  }
  if (error) bad_file(folder, "cannot be read: " + error.message());
  return entries;
}

/// Throws for a link to a folder that the link is in, however it was reached: to follow it would
/// never end.
void require_no_loop(const fs::path& link) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(link, ignored);
  for (fs::path above = whole.parent_path(); above != above.parent_path();
       above = above.parent_path()) {
    if (!fs::equivalent(link, above, ignored)) continue;
    bad_file(link, "is a symbolic link to '" + above.string() +
                       "', a folder that it is in: a loop; remove the link");
  }
}

/// Whether a link leads to something.
bool leads_somewhere(const fs::directory_entry& link) {
  std::error_code ignored;
  return fs::exists(link.status(ignored));
}

/// Throws for a link that is refused.
void check_link(const fs::directory_entry& entry, Links links) {
  std::error_code ignored;
  if (links == Links::refuse && entry.is_symlink(ignored)) refuse_link(entry.path());
}

/// Whether an entry is a folder, perhaps by a link.
bool is_folder(const fs::directory_entry& entry, Links links) {
  std::error_code ignored;
  check_link(entry, links);
  if (!entry.is_directory(ignored)) return false;
  if (entry.is_symlink(ignored)) require_no_loop(entry.path());
  return true;
}

/// Throws for a link to nothing, which may be a folder that is not there.
void require_target(const fs::directory_entry& entry) {
  std::error_code ignored;
  if (!entry.is_symlink(ignored) || leads_somewhere(entry)) return;
  throw data_error(fault_of(entry.path()));
}

class FileWalk {
 public:
  FileWalk(Links links, const Wanted& wanted) : links_(links), wanted_(wanted) {}

  /// `name` is the folder's path below the first one.
  void walk(const fs::path& folder, const fs::path& name) {
    std::vector<FoundFile> own;
    for (const fs::directory_entry& entry : entries_of(folder)) {
      const fs::path below = name / entry.path().filename();
      is_folder(entry, links_) ? walk(entry.path(), below) : look_at(entry, below.string(), own);
    }
    std::ranges::sort(own, {}, &FoundFile::name);
    by_folder_.emplace(name.string(), std::move(own));
  }
  [[nodiscard]] std::vector<FoundFile> found() {
    std::vector<FoundFile> all;
    for (auto& [folder, files] : by_folder_) std::ranges::move(files, std::back_inserter(all));
    return all;
  }

 private:
  void look_at(const fs::directory_entry& entry, std::string name, std::vector<FoundFile>& own) {
    std::error_code ignored;
    std::string fault;
    bool taken = true;
    try {
      taken = wanted_(entry.path());
      if (taken && !entry.is_regular_file(ignored)) fault = fault_of(entry.path());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      fault = error.what();
    }
    if (!taken) return require_target(entry);
    own.push_back({std::move(name), std::move(fault)});
  }

  Links links_;
  const Wanted& wanted_;
  std::map<std::string, std::vector<FoundFile>> by_folder_;
};

}  // namespace

std::vector<FoundFile> files_below(const fs::path& folder, Links links, const Wanted& wanted) {
  FileWalk walk(links, wanted);
  walk.walk(folder, "");
  return walk.found();
}

std::vector<std::string> folders_in(const fs::path& folder, Links links) {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries_of(folder)) {
    if (entry.is_directory(ignored) && is_folder(entry, links)) {
      names.push_back(entry.path().filename().string());
    } else {
      require_target(entry);
    }
  }
  std::ranges::sort(names);
  return names;
}

void refuse_link(const fs::path& link) {
  bad_file(link,
           "is a symbolic link, which 'links: refuse' forbids; copy what it leads to, or set "
           "'links: follow'");
}

std::string fault_of(const fs::path& file) {
  std::error_code error, ignored;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_regular_file(status)) return "";
  const std::string name = "'" + file.string() + "' ";
  if (error == std::errc::too_many_symbolic_link_levels) {
    return name + "is a symbolic link that leads back to itself: a loop; remove it";
  }
  if (fs::exists(status)) {
    return name + (error ? "cannot be read: " + error.message() : "is not a regular file");
  }
  if (!fs::is_symlink(file, ignored)) return name + "does not exist";
  return name + "is a symbolic link to '" + fs::read_symlink(file, ignored).string() +
         "', which does not exist; get that file, or remove the link";
}

}  // namespace trainyard
