// A small checkpoint that differs from step to step.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/checkpoint_files.h"

namespace trainyard::testing {

struct SampleCheckpoint {
  std::int64_t epoch = 1;
  std::int64_t step = 10;
  std::vector<float> weights = std::vector<float>(37);
  std::vector<float> momentum = std::vector<float>(37);
  std::vector<std::int32_t> order = {4, 2, 9};

  SampleCheckpoint(std::int64_t of_epoch, std::int64_t of_step) : epoch(of_epoch), step(of_step) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(step) + static_cast<float>(i) / 8;
      momentum[i] = -weights[i];
    }
  }

  [[nodiscard]] CheckpointContent content() const {
    CheckpointContent content;
    content.epoch = epoch;
    content.step = step;
    content.files["weights.safetensors"] = {
        {"stem.conv1.kernel", StoredType::f32, {37}, std::as_bytes(std::span(weights))}};
    content.files["optimizer.safetensors"] = {
        {"stem.conv1.kernel", StoredType::f32, {37}, std::as_bytes(std::span(momentum))},
        {"order", StoredType::i32, {3}, std::as_bytes(std::span(order))}};
    content.state = {{"schema_version", 1}, {"step", step}, {"best", {{"value", 0.25}}}};
    return content;
  }
};

}  // namespace trainyard::testing
