// Writing packs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "data/sets/dataset.h"

namespace trainyard {

struct PackWriting {
  std::int64_t block = 0;  // samples; 0: as many as fit 1 MiB, at least 1
  std::uint64_t seed = 0;  // of the order in which the samples are stored
  int threads = 1;
  /// Called now and then with the number of samples that are written.
  std::function<void(std::int64_t)> written = [](std::int64_t) {};
};

/// Writes the samples of `set`, which has 8-bit images of one shape, to a new pack. They are stored
/// in the order epoch_order(seed, 0), so that a block holds samples of all classes. The file gets
/// its name when it is complete and on disk; until then it is PATH.partial, which an error removes.
/// Throws Error{data} for such a set or a bad sample, Error{disk} if the file exists or cannot be
/// written.
void write_pack(const Dataset& set, const std::filesystem::path& path, const PackWriting& writing);

}  // namespace trainyard
