// The model that writes text: a run's network with a row for each text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "data/sets/dataset.h"
#include "model/model.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"

namespace trainyard {

/// The network of `run` for batches of `rows` texts, for evaluation alone: a token then costs a
/// batch of that size, not one of the run's. Its weights are not set. `set` has the fields of its
/// data, and `device` outlives it. Throws Error{config}, Error{memory}.
[[nodiscard]] std::unique_ptr<Model> make_text_model(const RunConfig& run,
                                                     const SessionDevice& device,
                                                     const Dataset& set, std::int64_t rows);

/// The run with a network that leaves out padding (input: {..., lengths: true}), whose outputs for
/// whole samples are the same; none if a layer cannot.
[[nodiscard]] std::optional<RunConfig> padded_run(const RunConfig& run);

/// Enqueues copying the weights of `from` that are judged to `to`, a model of the same network on
/// the same queue.
void copy_judged_weights(Model& from, Model& to);

}  // namespace trainyard
