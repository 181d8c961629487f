// Data sets of which a machine holds one copy for all ranks of a run on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "train/rank_group.h"

namespace trainyard {

/// Opens `source`. Of the ranks of a machine the first that comes opens it, and puts what the set
/// holds in memory there where the others read it too; a set that holds nothing is opened by each.
/// So is one whose memory cannot be shared, with a warning. Throws what source.open() throws, and
/// Error{device} on the others where that failed.
[[nodiscard]] std::unique_ptr<Dataset> open_shared(
    const DatasetSource& source, std::uint64_t seed, RankGroup& ranks,
    const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
