// Chooses between the plan's layouts and those that oneDNN prefers.
#pragma once

#include <string_view>

#include "base/error.h"
#include "compute/conv/onednn/dnnl.h"

namespace trainyard::onednn {

inline constexpr int kBestRank = 2;

/// The quality of an implementation, judged by its name: 2 for generated code, 1 for matrix
/// products over unfolded images, 0 for the plain loops that oneDNN calls ref (up to 1,000 times
/// slower).
[[nodiscard]] inline int rank_of(std::string_view implementation) {
  const auto has = [&](std::string_view word) {
    return implementation.find(word) != std::string_view::npos;
  };
  if (has("ref")) return 0;
  if (has("gemm") && !has("brgemm")) return 1;
  return kBestRank;
}

/// build(a, b) makes a primitive descriptor, which may be empty, for two activation layouts. The
/// result is for the given layouts, unless others have a better implementation: then the step
/// copies its activations.
template <class Build>
[[nodiscard]] auto choose(const Build& build, const Desc& a, const Desc& b) {
  auto given = build(a, b);
  const int rank = given ? rank_of(given.impl_info_str()) : -1;
  if (rank == kBestRank) return given;
  auto preferred = build(any_of(a), any_of(b));
  if (preferred && rank_of(preferred.impl_info_str()) > rank) return preferred;
  TY_CHECK(rank >= 0, "oneDNN has an implementation for every shape that inference lets pass");
  return given;
}

}  // namespace trainyard::onednn
