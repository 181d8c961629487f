#include "fetch/get_set.h"

#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "fetch/tar.h"

namespace trainyard {
namespace {

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
  throw data_error("'" + path.string() + "' is not the file that was published as " + file.name() +
                   "; move it away, or give another folder with --to");
}

/// Unpacks next to the final place, so that a folder with its final name is whole.
void unpack(const SetFile& file, const fs::path& archive, const fs::path& folder) {
  const Disk disk;
  const fs::path part = folder / (file.unpacks + ".part");
  disk.remove(part);
  if (!disk.make_folder(part)) {
    throw disk_error("another process is unpacking into '" + part.string() +
                     "'; wait until it ends");
  }
  unpack_tar(archive, part, {.top = file.unpacks, .left_out = file.left_out});
  if (!fs::is_directory(part / file.unpacks)) {
    throw data_error(archive.string() + ": it has no folder '" + file.unpacks +
                     "'; fetch it again");
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

namespace {

// The archive's site lists its MD5, c32a1d4ab5d03f1284b67883e8d87530, of the same file.
const KnownSet& cifar10() {
  static const KnownSet set = {
      .name = "cifar10",
      .folder = "",
      .files = {{.remote = {"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", 170'052'171,
                            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"},
                 .unpacks = "cifar-10-batches-bin"}}};
  return set;
}

/// The four files of MNIST and of what is made like it, in the order of `sizes` and `hashes`.
std::vector<SetFile> idx_files(const std::string& address, const std::vector<std::uint64_t>& sizes,
                               const std::vector<std::string>& hashes) {
  const std::vector<std::string> names = {"train-images-idx3-ubyte.gz",
                                          "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
                                          "t10k-labels-idx1-ubyte.gz"};
  std::vector<SetFile> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    files.push_back({.remote = {address + names[i], sizes[i], hashes[i]}});
  }
  return files;
}

const KnownSet& mnist() {
  static const KnownSet set = {
      .name = "mnist",
      .folder = "mnist",
      .files = idx_files("https://storage.googleapis.com/cvdf-datasets/mnist/",
                         {9'912'422, 28'881, 1'648'877, 4'542},
                         {"440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                          "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                          "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                          "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"})};
  return set;
}

const KnownSet& fashion_mnist() {
  static const KnownSet set = {
      .name = "fashion_mnist",
      .folder = "fashion-mnist",
      .files = idx_files("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                         {26'421'880, 29'515, 4'422'102, 5'148},
                         {"3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                          "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                          "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                          "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"})};
  return set;
}

// The reviews without a rating are half of the archive; no source reads them. Keras states the
// index's MD5, bfafd718b763782e994055a2d397834f, of the same file.
const KnownSet& imdb() {
  static const KnownSet set = {
      .name = "imdb",
      .folder = "imdb",
      .files = {
          {.remote = {"https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
                      "imdb_word_index.json",
                      1'641'221,
                      "027313fe9a320280f3bf0fac5baf58c4a683cf39a7ed9c3d3d3912bde4284cf6"}},
          {.remote = {"https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz", 84'125'825,
                      "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe"},
           .unpacks = "aclImdb",
           .left_out = {"aclImdb/train/unsup/"}}}};
  return set;
}

}  // namespace

std::span<const KnownSet> known_sets() {
  static const std::vector<KnownSet> sets = {cifar10(), mnist(), fashion_mnist(), imdb()};
  return sets;
}

const KnownSet& known_set(std::string_view name) {
  std::vector<std::string> names;
  for (const KnownSet& set : known_sets()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  refuse_command("no data set '" + std::string(name) + "' is known; known are " + joined(names) +
                 config::suggestion(name, names));
}

}  // namespace trainyard
