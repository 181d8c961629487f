// The engines of the stand-in: their properties, the graphs they support, and how they fail.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <vector>

#include "convolution.h"
#include "sums.h"

namespace standin::cudnn {

/// A setting of an engine, with its bounds and default.
struct KnobInfo {
  cudnnBackendKnobType_t type;
  std::int64_t least, most, standard;
};

struct Engine {
  std::int64_t index;
  const char* name;  // name of its work on a stream
  std::vector<cudnnBackendNumericalNote_t> notes = {};
  std::vector<KnobInfo> knobs = {};
  bool (*serves)(const Convolution&) = nullptr;
  Rounding rounding = Rounding::none;  // rounding of its factors
  bool turns = false;                  // its sums start at a different image each time
  bool unfolds_in_workspace = false;   // the first knob is the number of images at a time
  enum class Fails { never, at_plan, in_capture, at_execution } fails = Fails::never;
};

/// All, in the order of their indices.
[[nodiscard]] std::span<const Engine> engines();

/// An engine with its settings.
struct Proposal {
  const Engine* engine;
  std::vector<std::int64_t> knobs;  // one for each knob of the engine
};
/// A heuristic's proposals, best first, for any graph: whether an engine supports it shows when its
/// plan is made. STANDIN_FAULTS=cudnnFirstEngine=1 puts that engine before all others, as might
/// happen on another GPU; cudnnTurns=NAME lets the sums of that engine begin at a different image
/// each time, which its notes do not say; with cudnnAdding=none no engine adds its result.
[[nodiscard]] std::vector<Proposal> proposals(cudnnBackendHeurMode_t mode);

/// Images that are unfolded at a time.
[[nodiscard]] std::int64_t images_at_a_time(const Engine& engine,
                                            const std::vector<std::int64_t>& knobs);
[[nodiscard]] std::int64_t workspace_bytes(const Engine& engine, const Convolution& convolution,
                                           const std::vector<std::int64_t>& knobs);

}  // namespace standin::cudnn
