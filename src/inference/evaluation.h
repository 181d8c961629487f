// A stored model evaluated on a whole split: `train eval`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/inference_session.h"
#include "inference/views.h"
#include "report/class_table.h"
#include "run/split_results.h"

namespace trainyard {

struct EvaluationRequest {
  std::string data = "val";       // see open_evaluated()
  std::int64_t top = 5;           // k of the top-k accuracy
  std::int64_t batch = 0;         // batch size; 0: the run's on one rank
  ViewSet views = ViewSet::none;  // over which the last layer's outputs are averaged
};

/// A number and its name: "loss", "accuracy", "top5_accuracy".
struct EvaluatedValue {
  std::string name;
  double value = 0;
};

struct Evaluation {
  std::int64_t samples = 0;
  std::vector<EvaluatedValue> values;  // the loss, then the metrics
  std::vector<std::string> faults;     // why some are not numbers, see NanValues::lines()
  std::optional<ClassTables> tables;   // none: labels are not one class for each sample
  /// None if the network predicts at several positions, or its last layer has no loss.
  std::optional<PredictedSplit> predictions = {};
  double seconds = 0;  // time of the passes
};

/// Evaluates every sample of `data` once, by all ranks together: they get the same values, which do
/// not depend on their number. The metrics are the run's; of one class for each sample the accuracy
/// and the top-k accuracy besides, unless there are no more than `top` classes. With
/// views losses and metrics of other outputs are left out. Throws as InferenceSession, and
/// Error{command_line} for views of a network with several predictions for a sample.
[[nodiscard]] Evaluation evaluate_stored(const StoredModel& stored, SessionDevice& device,
                                         RankGroup& ranks, const InferenceData& data,
                                         const EvaluationRequest& request);

}  // namespace trainyard
