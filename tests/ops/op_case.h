// Cases of the op harness, read from tests/ops/*.yaml.
//
// A case is a map:
//   op: {conv: {filters: 5, kernel: 3}}   an op, loss or metric as a network or run file names it
//   inputs: [[2, 3, 7, 9]]                shapes of the inputs (labels: none; they follow); of an
//                                         op that reads tokens, [n, t]
//   grid: {stride: [1, 2], pad: [0, 1]}   the case for every combination of these attributes
//   values: normal | near_zero | spread | positive   values of the inputs (default normal)
//   profile: torch                        default keras2
//   golden: {...}                         results of another library, see golden_test.cpp
//   fused_relu: true                      the flag that the planner's fusion sets (bn, add)
//   fused_residual: true                  the same (bn), with a second input
//   fixed_statistics: true                what 'freeze_statistics' makes of it (bn)
//   mixed: true                           with mixed targets behind the labels (losses)
//   valid: 3                              valid samples in the batch (losses; default all)
//   conditioning: 4                       factor on the float tolerance
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/node.h"
#include "ops/op.h"

namespace trainyard::op_tests {

enum class InputValues {
  normal,     // standard normal
  near_zero,  // normal times 1e-6: shows cancellation
  positive,   // 0.1 + |normal|, for losses that take logarithms of outputs
  spread,     // a shuffled grid: no two equal, so that a maximum has no ties
};

struct OpCase {
  std::string name;  // "conv.yaml:3 conv {filters: 5, ...} [2, 3, 7, 9]"
  std::shared_ptr<const Op> op;
  std::vector<Shape> inputs;
  std::vector<DType> types;  // f32: arithmetic; i32: labels, tokens
  Signature signature;
  InputValues values = InputValues::normal;
  bool mixed = false;          // the last input is mixed targets, f32 whatever the arithmetic
  bool reads_running = false;  // the running statistics, in training too
  bool is_loss = false;        // backward starts here: the output's gradient is not read
  bool has_backward = true;    // metrics have none, nor what reads tokens without parameters
  std::int64_t valid = 0;
  double conditioning = 1;
  config::Node golden;

  [[nodiscard]] bool is_mixed(std::size_t input) const {
    return mixed && input + 1 == inputs.size();
  }
  [[nodiscard]] bool has_gradient(std::size_t input) const {
    return types[input] == DType::f32 && !is_mixed(input);
  }
};

/// Every case of tests/FILE, grids expanded. Throws Error{config} as the loader does.
[[nodiscard]] std::vector<OpCase> load_cases(const std::string& file);
/// Cases of every file of tests/ops.
[[nodiscard]] std::vector<OpCase> load_all_cases();

}  // namespace trainyard::op_tests
