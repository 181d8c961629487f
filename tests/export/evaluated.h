// What a network gives on the CPU, and what another program needs to be asked the same.
#pragma once

#include <cstdint>
#include <vector>

#include "networks.h"
#include "tensor/shape.h"

namespace trainyard::export_tests {

struct Evaluated {
  std::vector<float> input;          // input of a network of numbers
  std::vector<std::int64_t> tokens;  // input of one that reads tokens
  Shape input_shape;
  std::vector<float> logits;  // row-major, before a closing activation
  Shape logits_shape;
};

/// By the plan and executors of the CPU: `input`, or without it noise in [-1, 1), or tokens.
[[nodiscard]] Evaluated evaluate(const config::Node& network, const NamedWeights& weights,
                                 std::int64_t batch, const std::vector<float>& input = {});

}  // namespace trainyard::export_tests
