// The workspace of a step that a library serves.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/carver.h"
#include "base/error.h"

namespace trainyard::cudnn {

/// Places in the workspace of one step: first those that the step itself needs, whatever they take,
/// then the library's, in what is left of the cap.
class StepWorkspace {
 public:
  /// `cap`: bytes that step and library may take together.
  explicit StepWorkspace(std::size_t cap) : cap_(cap) {}

  /// Offset of `bytes` that the step cannot do without. All of them before take_for_library().
  std::size_t take(std::size_t bytes) { return carver_.take(bytes); }
  /// Takes `bytes` off the cap without a place: the step needs them in another pass, for which the
  /// library has to choose as it does for this one.
  void leave(std::size_t bytes) { cap_ -= std::min(cap_, aligned_bytes(bytes)); }
  /// Bytes that the library may take: none where the step's own needs fill the cap.
  [[nodiscard]] std::size_t left() const {
    return carver_.used() < cap_ ? (cap_ - carver_.used()) / kAlignment * kAlignment : 0;
  }
  /// Offset of `bytes` of those.
  std::size_t take_for_library(std::size_t bytes) {
    TY_CHECK(bytes <= left(), "a library keeps to the workspace that it was offered");
    return carver_.take(bytes);
  }
  [[nodiscard]] std::size_t used() const { return carver_.used(); }

 private:
  static constexpr std::size_t kAlignment = aligned_bytes(1);
  std::size_t cap_;
  Carver carver_;
};

}  // namespace trainyard::cudnn
