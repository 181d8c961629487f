// Data sets that a machine stores once for all ranks of a run on it.
#pragma once

#include "data/sets/dataset.h"
#include "ranks/rank_group.h"

namespace trainyard {

/// Opens `source`. The first rank of a machine to arrive opens it, and puts what the set holds in
/// memory into memory shared with the others; a set that holds nothing is opened by each rank. So
/// is one whose memory cannot be shared, with a warning. Throws what source.open() throws, and
/// Error{device} on the others if that failed.
[[nodiscard]] DatasetPtr open_shared(const DatasetSource& source, const Opening& opening,
                                     RankGroup& ranks);

}  // namespace trainyard
