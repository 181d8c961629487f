// `train data get`: a published data set, in the layout that its data source reads.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "fetch/known_sets.h"

namespace trainyard {

struct GetOptions {
  std::filesystem::path to;  // the data folder; created
  std::string from;          // address of another folder with the same files; "": the publisher's
  FetchProgress progress;
  FetchLimits limits = {};
  std::function<void(const std::string& line)> tell;  // a line for each file
};

/// Fetches what is missing of the set and returns its folder. What is there is not fetched again: a
/// file of the right size and hash, and the folder of an archive, which gets its name when all of
/// it is unpacked. Throws as fetch_file() and unpack_tar(), and Error{data} for a file in the way
/// that is not the published one.
std::filesystem::path get_set(const KnownSet& set, const GetOptions& options);

}  // namespace trainyard
