// Packs: samples that were decoded and resized once, in a file that may be larger than memory.
#pragma once

#include "data/sets/source.h"

namespace trainyard {

/// When the hashes of a pack's blocks are checked.
enum class PackCheck {
  reading,  // of each block when it is first read
  opening,  // of all before the first sample
};
[[nodiscard]] constexpr config::Words<PackCheck> words(PackCheck) { return {"reading", "opening"}; }

struct PackOptions : SourceOptions {
  config::FilePath file;
  PackCheck check = PackCheck::reading;
};
void declare(config::Fields& fields, PackOptions& options);

/// The samples of a pack (see pack_layout.h). It is mapped, and of its images only the blocks read
/// last are kept in this process's memory: up to three of EpochOrder's windows. Throws Error{data}:
/// not a pack, damage; read() throws it for a damaged block and for a file that was cut since. Only
/// a cut during a read, within microseconds, still ends the process (SIGBUS).
[[nodiscard]] std::unique_ptr<Dataset> open_pack(const PackOptions& options);

[[nodiscard]] std::unique_ptr<DatasetSource> read_pack(config::Fields& fields);

}  // namespace trainyard
