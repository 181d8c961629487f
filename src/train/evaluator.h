// Exact evaluation of a whole split.
#pragma once

#include <functional>
#include <vector>

#include "comm/communicator.h"
#include "data/feeder.h"
#include "model/model.h"

namespace trainyard {

/// Runs the evaluation program over every sample of `feeder`'s set; padding in the last batch is
/// excluded from the sums. For a single rank.
[[nodiscard]] Totals evaluate(Model& model, Feeder& feeder);

/// The same on all ranks together, each with its own feeder: rank b mod ranks evaluates batch b, or
/// a batch of padding if none is left. The batches' sums are added in order, so that the totals on
/// every rank are bit-identical to a single rank's. `hosts` is a host-memory communicator;
/// `before_batch` is called before each batch of this rank; `split` is what `feeder` feeds.
[[nodiscard]] Totals evaluate(
    Model& model, Feeder& feeder, Communicator& hosts,
    const std::function<void()>& before_batch = [] {},
    EvaluatedSplit split = EvaluatedSplit::validation);

/// The network's outputs of an evaluate() by all ranks, [samples, width], on every rank; see
/// OutputRows, which the model must have.
[[nodiscard]] std::vector<float> take_outputs(Model& model, Communicator& hosts);

}  // namespace trainyard
