// Descriptors of cuDNN, valid or with one thing wrong, and the answers of cuDNN 9.19: recorded from
// the real library, and tested again where it is installed. It accepts much that is wrong.
// Invalid enumerators are within the bits of their type, as C++ requires.
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

/// Calls themselves: types and counts of attributes, the order of calls.
[[nodiscard]] std::vector<WrongParts> wrong_calls();
/// Tensors, convolutions, operations and graphs.
[[nodiscard]] std::vector<WrongParts> wrong_graphs();
/// Heuristics, engines, configurations, plans and packs of addresses.
[[nodiscard]] std::vector<WrongParts> wrong_engines();

}  // namespace standin_tests
