// Which of cuDNN's engines may compute a graph, as data: facts, rules, and the choice itself. Needs
// no device.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace trainyard::cudnn {

/// One setting of an engine.
struct Knob {
  std::int64_t type = 0;
  std::int64_t value = 0;
  bool operator==(const Knob&) const = default;
};

/// An engine with its settings: the result of tuning, stored in the engine cache. Valid only for
/// one graph, one GPU model and one version of cuDNN.
struct EngineChoice {
  std::int64_t engine = -1;  // global index
  std::vector<Knob> knobs;
  bool adds_bias = false;    // the engine belongs to the graph that adds the bias itself
  bool adds_result = false;  // ... that adds its result to what is there, as one was to do
  bool operator==(const EngineChoice&) const = default;
};

/// {"engine": 5, "knobs": [[2, 1], [13, 0]], "adds_bias": false}; "adds_result": true only where it
/// is.
[[nodiscard]] Json json_of(const EngineChoice& choice);
/// The reverse. Throws Error{data} that names `source` and the key at fault.
[[nodiscard]] EngineChoice choice_of(const Json& json, const std::string& source);

/// cuDNN's information on an engine.
struct EngineFacts {
  std::vector<cudnnBackendNumericalNote_t> numerical_notes;
  std::int64_t workspace_bytes = 0;
};

/// What a run permits.
struct EnginePolicy {
  bool deterministic = true;       // only engines whose results are bit-identical from run to run
  bool f32 = true;                 // activations are stored in f32 ...
  bool tf32 = false;               // ... and factors may be rounded to TF32
  std::int64_t workspace_cap = 0;  // bytes
};

/// Why an engine may not be used ("rounds f32 factors to TF32"), or "" if it may.
[[nodiscard]] std::string_view refusal(const EngineFacts& facts, const EnginePolicy& rules);

/// "deterministic, f32, workspace up to 268435456": part of a choice's key.
[[nodiscard]] std::string text_of(const EnginePolicy& rules);

/// How many engines were refused for which reason: "3 round f32 factors to TF32, 2 ...".
class RefusalCount {
 public:
  void add(std::string_view reason) { ++counts_[std::string(reason)]; }
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, int> counts_;
};

}  // namespace trainyard::cudnn
