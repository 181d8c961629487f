// Descriptors of cuDNN, sound or with one thing wrong, and what cuDNN 9.19 answers: tried with the
// real library, which the tests do again where it is installed. It passes much that is wrong.
// Enumerators that there are none of are within the bits of their type, as C++ wants.
#pragma once

#include <cudnn_graph.h>

#include <functional>
#include <string>
#include <vector>

#include "parts.h"

namespace standin_tests {

inline constexpr cudnnStatus_t kSuccess = CUDNN_STATUS_SUCCESS;
inline constexpr cudnnStatus_t kBad = CUDNN_STATUS_BAD_PARAM;

struct WrongParts {
  std::string what;
  cudnnStatus_t status;  // of the first call that fails
  std::function<void(Maker&)> make;
};

/// Calls as such: types and counts of attributes, the order of calls.
[[nodiscard]] std::vector<WrongParts> wrong_calls();
/// Tensors, convolutions, operations and graphs.
[[nodiscard]] std::vector<WrongParts> wrong_graphs();
/// Heuristics, engines, configurations, plans and packs of addresses.
[[nodiscard]] std::vector<WrongParts> wrong_engines();

}  // namespace standin_tests
