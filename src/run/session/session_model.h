// The model of a run: its training graph, and the options of its memory and of its updates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "model/model.h"
#include "model/training_graph.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"
#include "train/train_step.h"

namespace trainyard {

/// True if a metric needs the outputs for the whole validation split.
[[nodiscard]] bool measures_split(const RunConfig& run);

/// The value above which the single unit of this output ("": the last layer) predicts class 1,
/// unless a metric sets its own.
[[nodiscard]] double usual_threshold(const RunConfig& run, const std::string& output = "");

/// The training graph of a run, whose data have these fields. Throws Error{config} for an output or
/// a field that is not there.
[[nodiscard]] TrainingGraph training_graph_of(const RunConfig& run, Graph network,
                                              const std::vector<SampleField>& fields);
/// The fields that a run without data needs: targets other than the label are taken for numbers,
/// one for each output.
[[nodiscard]] std::vector<SampleField> usual_fields(const RunConfig& run, const Graph& network);
/// The training graph of a run at this batch, with usual_fields().
[[nodiscard]] TrainingGraph make_training_graph(const RunConfig& run, std::int64_t batch);

/// The average of the weights that the run asks for, or its slow weights.
[[nodiscard]] std::optional<AverageOptions> average_options(const RunConfig& run);

/// `shards`: see shards_of_rank(). `statistics` outlives the model; null: one rank. `val_samples`:
/// of the validation split.
[[nodiscard]] ModelOptions model_options(const RunConfig& run, const SessionDevice& device,
                                         std::int64_t shards, StatisticsSum* statistics,
                                         std::int64_t val_samples);

/// `network` is the run's, with or without its loss; an epoch has `steps` steps.
[[nodiscard]] StepOptions step_options(const RunConfig& run, const SessionDevice& device,
                                       const Graph& network, std::int64_t steps);

}  // namespace trainyard
