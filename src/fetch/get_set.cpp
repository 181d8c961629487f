#include "fetch/get_set.h"

#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "fetch/tar.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

RemoteFile remote_of(const SetFile& file, const std::string& from) {
  RemoteFile remote = file.remote;
  if (!from.empty()) remote.url = from + (from.ends_with('/') ? "" : "/") + remote.name();
  return remote;
}

/// True for the published file. Throws Error{data} for any other in its place.
bool is_there(const RemoteFile& file, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  const bool same = fs::is_regular_file(path, ignored) && fs::file_size(path) == file.bytes &&
                    sha256_file_hex(path, ErrorKind::data) == file.sha256;
  if (same) return true;
  throw Error(ErrorKind::data, "'" + path.string() + "' is not the file that was published as " +
                                   file.name() +
                                   "; move it away, or give another folder with "
                                   "--to");
}

/// Unpacks next to the final place, so that a folder with its final name is whole.
void unpack(const SetFile& file, const fs::path& archive, const fs::path& folder) {
  const Disk disk;
  const fs::path part = folder / (file.unpacks + ".part");
  disk.remove(part);
  if (!disk.make_folder(part)) {
    throw Error(ErrorKind::disk,
                "another process is unpacking into '" + part.string() + "'; wait until it ends");
  }
  unpack_tar(archive, part, {.top = file.unpacks, .left_out = file.left_out});
  if (!fs::is_directory(part / file.unpacks)) {
    throw Error(ErrorKind::data,
                archive.string() + ": it has no folder '" + file.unpacks + "'; fetch it again");
  }
  disk.rename(part / file.unpacks, folder / file.unpacks);
  disk.remove(part);
  disk.remove(archive);
}

void get_file(const SetFile& file, const fs::path& folder, const GetOptions& options) {
  const RemoteFile remote = remote_of(file, options.from);
  const fs::path path = folder / remote.name();
  std::error_code ignored;
  // An empty folder of this name is not what was unpacked.
  if (!file.unpacks.empty() && fs::is_directory(folder / file.unpacks, ignored) &&
      !fs::is_empty(folder / file.unpacks, ignored)) {
    return options.tell((folder / file.unpacks).string() + ": already there");
  }
  const bool there = is_there(remote, path);
  if (!there) fetch_file(remote, path, options.progress, options.limits);
  if (!file.unpacks.empty()) unpack(file, path, folder);
  const fs::path result = file.unpacks.empty() ? path : folder / file.unpacks;
  options.tell(result.string() + ": " +
               (there && file.unpacks.empty()
                    ? "already there"
                    : with_separators(static_cast<std::int64_t>(remote.bytes)) +
                          " bytes, hash checked" + (file.unpacks.empty() ? "" : ", unpacked")));
}

}  // namespace

fs::path get_set(const KnownSet& set, const GetOptions& options) {
  const fs::path folder = set.folder.empty() ? options.to : options.to / set.folder;
  Disk().make_folders(folder);
  for (const SetFile& file : set.files) get_file(file, folder, options);
  return folder;
}

}  // namespace trainyard
