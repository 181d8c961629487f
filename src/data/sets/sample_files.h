// The files of a set whose samples are a file each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

struct SampleFile {
  std::string name;          // below the set's folder
  std::int32_t label = 0;    // of its sample, as its source numbers classes
  std::uint64_t bytes = 0;   // its length
  std::int64_t changed = 0;  // time of its last change, nanoseconds since 1970
  std::string hash = {};     // XXH3-128 of its bytes; "": it was never decoded
};

/// In the order of the samples; no files: samples have none of their own.
struct SampleFiles {
  std::filesystem::path folder = {};
  std::vector<SampleFile> files = {};
  std::vector<std::string> left_out = {};  // names of files that are none of the samples
};

}  // namespace trainyard
