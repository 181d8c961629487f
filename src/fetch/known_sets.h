// The published data sets that `train data get` knows: where they are, and their hashes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  std::string name;    // that of the data source: "fashion_mnist"
  std::string folder;  // below the data folder, where the source looks; "": the data folder itself
  std::vector<SetFile> files;
};

[[nodiscard]] std::span<const KnownSet> known_sets();
/// Throws Error{command_line} with the nearest name for an unknown one.
[[nodiscard]] const KnownSet& known_set(std::string_view name);

}  // namespace trainyard
