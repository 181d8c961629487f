// What is left of a stored model where its network's outputs are known: losses and metrics.
#pragma once

#include <vector>

#include "inference/inference_session.h"

namespace trainyard {

struct OutputsModel {
  StoredModel stored;
  InferenceData data;
};

/// A model whose network gives what it reads, with samples that are `outputs`, [samples, width] of
/// the network's last layer, and otherwise those of `data`, which outlives it. Losses and metrics
/// of other outputs are left out.
[[nodiscard]] OutputsModel model_of_outputs(const StoredModel& stored, const InferenceData& data,
                                            std::vector<float> outputs);

}  // namespace trainyard
