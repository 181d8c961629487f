// Exact evaluation of a whole split.
#pragma once

#include <functional>

#include "comm/communicator.h"
#include "data/feeder.h"
#include "model/model.h"

namespace trainyard {

/// Runs the evaluation program over every sample of `feeder`'s set; the padding of the last batch
/// is left out of the sums. Of one rank.
[[nodiscard]] Totals evaluate(Model& model, Feeder& feeder);

/// The same by all ranks together, each of which calls it with a feeder of its own: batch b is that
/// of rank b mod ranks, a batch of padding alone where there is none left. The batches' sums are
/// added in their order, so that the totals have the bits of one rank's on every rank. `hosts` is a
/// communicator of the host's memory; `before_batch` is called before each of its batches.
[[nodiscard]] Totals evaluate(
    Model& model, Feeder& feeder, Communicator& hosts,
    const std::function<void()>& before_batch = [] {});

}  // namespace trainyard
