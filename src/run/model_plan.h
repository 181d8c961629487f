// The plan of a training graph as text, and what it will take.
#pragma once

#include <cstddef>
#include <string>

#include "run/model.h"
#include "run/session.h"

namespace trainyard {

/// Bytes that a model takes, by kind.
struct MemoryForecast {
  std::size_t weights = 0;  // with running statistics
  std::size_t gradients = 0;
  std::size_t optimizer = 0;
  std::size_t inputs = 0;
  std::size_t activations = 0;  // the transient arena: activations, their gradients, workspace
  [[nodiscard]] std::size_t total() const {
    return weights + gradients + optimizer + inputs + activations;
  }
};
[[nodiscard]] MemoryForecast forecast(const Model& model);
/// "memory: 12.3 MiB weights, ...".
[[nodiscard]] std::string forecast_text(const MemoryForecast& forecast);

/// Steps, tensors and offsets of the training program, as its executors ask for them.
[[nodiscard]] std::string plan_text(const TrainingGraph& graph, const SessionDevice& device);

}  // namespace trainyard
