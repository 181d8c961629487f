// The engines of the stand-in: what they say of themselves, what they serve, and how they fail.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <vector>

#include "convolution.h"
#include "sums.h"

namespace standin::cudnn {

/// A setting of an engine, with its bounds and what it is where nobody chooses.
struct KnobInfo {
  cudnnBackendKnobType_t type;
  std::int64_t least, most, standard;
};

struct Engine {
  std::int64_t index;
  const char* name;  // of its work on a stream
  std::vector<cudnnBackendNumericalNote_t> notes = {};
  std::vector<KnobInfo> knobs = {};
  bool (*serves)(const Convolution&) = nullptr;
  Rounding rounding = Rounding::none;  // of its factors
  bool turns = false;                  // its sums begin elsewhere each time
  bool unfolds_in_workspace = false;   // the first knob says how many images at a time
  enum class Fails { never, at_plan, in_capture, at_execution } fails = Fails::never;
};

/// All, in the order of their indices.
[[nodiscard]] std::span<const Engine> engines();

/// An engine with its settings.
struct Proposal {
  const Engine* engine;
  std::vector<std::int64_t> knobs;  // one for each of the engine's
};
/// What a heuristic proposes, best first, for any graph: whether an engine serves it shows when its
/// plan is made. STANDIN_FAULTS=cudnnFirstEngine=1 has that engine before all others, as another
/// GPU may.
[[nodiscard]] std::vector<Proposal> proposals(cudnnBackendHeurMode_t mode);

/// Images that lie unfolded side by side.
[[nodiscard]] std::int64_t images_at_a_time(const Engine& engine,
                                            const std::vector<std::int64_t>& knobs);
[[nodiscard]] std::int64_t workspace_bytes(const Engine& engine, const Convolution& convolution,
                                           const std::vector<std::int64_t>& knobs);

}  // namespace standin::cudnn
