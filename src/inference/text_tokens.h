// Texts as tokens, as the source of a run made them.
#pragma once

#include <memory>
#include <vector>

#include "data/sets/dataset.h"
#include "inference/prediction_inputs.h"

namespace trainyard {

/// The texts as samples of the run: of source imdb each a whole text, cut and padded at the front;
/// of source text its last tokens, of which there must be enough. Throws as open_inputs().
[[nodiscard]] std::unique_ptr<Dataset> tokens_of_inputs(const StoredModel& stored,
                                                        const SamplesRecord& samples,
                                                        const std::vector<PredictionInput>& inputs);

}  // namespace trainyard
