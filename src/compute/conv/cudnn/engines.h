// Engines of cuDNN for one operation graph: which of them may compute it, as data (facts, rules and
// the choice itself), proposals of its heuristics, execution plans, and a plan's arguments.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/library.h"
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

/// An engine that is ready to run on this GPU.
struct EnginePlan {
  EngineChoice choice;
  std::int64_t workspace_bytes = 0;
  DescriptorPtr plan;
};

/// The GPU with this number, as a descriptor for cuDNN's heuristics and plans.
[[nodiscard]] DescriptorPtr make_device_properties(const Library& library, int device);

/// A search for plans of a graph.
struct PlanQuery {
  DescriptorPtr operation_graph;
  DescriptorPtr device;
  bool adds_bias = false;    // the graph adds the bias
  bool adds_result = false;  // the graph adds its result to what is there
  EnginePolicy rules;
  std::size_t most = 1;
  std::function<void()> tick = [] {};  // called before each plan is made
  /// Why a plan that the rules permit is unusable nevertheless; "": it is usable.
  std::function<std::string(const EnginePlan&)> refusal_of = [](const EnginePlan&) { return ""; };
};

/// Plans for a graph in the order of cuDNN's heuristics (mode A, then the fallback list), each
/// engine configuration once, at most `most`. Engines that the rules refuse, plans that cuDNN does
/// not make and unusable plans are left out and counted. A plan of an engine that compiles at run
/// time takes up to a second to make.
[[nodiscard]] std::vector<EnginePlan> find_plans(const PlanQuery& query, RefusalCount& refused);

/// The plan of an earlier choice. Throws Error{device} with cuDNN's reason if there is no such
/// engine or setting here, or no plan.
[[nodiscard]] EnginePlan remake_plan(const DescriptorPtr& operation_graph,
                                     const DescriptorPtr& device, const EngineChoice& choice);

/// Addresses of the tensors of a convolution, by role. `bias` only if the graph adds it.
struct GraphAddresses {
  void* input = nullptr;
  void* weight = nullptr;
  void* output = nullptr;
  void* bias = nullptr;
  void* workspace = nullptr;
};

/// The arguments of cudnnBackendExecute besides the plan. Addresses are checked for alignment
/// (kAlignment).
[[nodiscard]] DescriptorPtr make_variant_pack(const Library& library,
                                              const GraphAddresses& addresses);

}  // namespace trainyard::cudnn
