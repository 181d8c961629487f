// Packs: samples that were decoded and resized once, in a file that may be larger than memory.
#pragma once

#include <cstdint>
#include <functional>

#include "base/filesystem.h"
#include "data/sets/dataset.h"
#include "data/sets/source.h"

namespace trainyard {

/// When the hashes of a pack's blocks are checked.
enum class PackCheck {
  reading,  // each block when it is first read
  opening,  // all before the first sample
};
[[nodiscard]] constexpr config::Words<PackCheck> words(PackCheck) { return {"reading", "opening"}; }

struct PackOptions : SourceOptions {
  static constexpr std::string_view kName = "pack";
  config::FilePath file;
  PackCheck check = PackCheck::reading;
};
void declare(config::Fields& fields, PackOptions& options);

/// The samples of a pack (see pack_layout.h). It is mapped, and of its images only the blocks read
/// last are kept in this process's memory: up to three of EpochOrder's windows. Throws Error{data}:
/// not a pack, damage; read() throws it for a damaged block and for a file that was cut since. Only
/// a cut during a read, within microseconds, still ends the process (SIGBUS).
[[nodiscard]] DatasetPtr open_pack(const PackOptions& options);

// Writing packs.

struct PackWriting {
  std::int64_t block = 0;  // samples; 0: as many as fit 1 MiB, at least 1
  std::uint64_t seed = 0;  // seed of the order in which the samples are stored
  int threads = 1;
  /// Called now and then with the number of samples that are written.
  std::function<void(std::int64_t)> written = [](std::int64_t) {};
};

/// Writes the samples of `set`, which has 8-bit images of one shape, to a new pack. They are stored
/// in the order epoch_order(seed, 0), so that a block holds samples of all classes. The file gets
/// its name when it is complete and on disk; until then it is PATH.partial, which an error removes.
/// Throws Error{data} for such a set or a bad sample, Error{disk} if the file exists or cannot be
/// written.
void write_pack(const Dataset& set, const fs::path& path, const PackWriting& writing);

}  // namespace trainyard
