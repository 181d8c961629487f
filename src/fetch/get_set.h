// `train data get`: a published data set, in the layout that its data source reads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "fetch/http.h"

namespace trainyard {

/// A file of a set, and what becomes of it.
struct SetFile {
  RemoteFile remote;
  /// The folder that the archive makes, and which replaces it: "cifar-10-batches-bin"; "": the file
  /// stays as it is.
  std::string unpacks = {};
  std::vector<std::string> left_out = {};  // see UnpackOptions
};

struct KnownSet {
  std::string name;    // name of the data source: "fashion_mnist"
  std::string folder;  // below the data folder, where the source looks; "": the data folder itself
  std::vector<SetFile> files;
};

[[nodiscard]] std::span<const KnownSet> known_sets();
/// Throws Error{command_line} with the nearest name for an unknown one.
[[nodiscard]] const KnownSet& known_set(std::string_view name);

struct GetOptions {
  fs::path to;       // the data folder; created
  std::string from;  // address of another folder with the same files; "": the publisher's
  FetchProgress progress;
  FetchLimits limits = {};
  std::function<void(const std::string& line)> tell;  // a line for each file
};

/// Fetches what is missing of the set and returns its folder. What is there is not fetched again: a
/// file of the right size and hash, and the folder of an archive, which gets its name when all of
/// it is unpacked. Throws as fetch_file() and unpack_tar(), and Error{data} for a file in the way
/// that is not the published one.
fs::path get_set(const KnownSet& set, const GetOptions& options);

}  // namespace trainyard
