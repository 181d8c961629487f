// Engines of cuDNN for one operation graph: proposals of its heuristics, execution plans, and a
// plan's arguments.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/descriptor.h"
#include "compute/conv/cudnn/engine_choice.h"

namespace trainyard::cudnn {

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
