#include <array>

#include "wrong_parts.h"

namespace standin_tests {
namespace {

constexpr cudnnStatus_t kOpen = CUDNN_STATUS_NOT_INITIALIZED;
constexpr cudnnStatus_t kUnknown = CUDNN_STATUS_NOT_SUPPORTED;
constexpr cudnnStatus_t kNotFinalized = CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;

template <class T>
T number(Maker& maker, Raw from, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t type) {
  std::int64_t count = 0;
  T value{};
  if (maker.status() == kSuccess) {
    maker.note(maker.call().get_attribute(from, name, type, 1, &count, &value), "get");
  }
  return value;
}

/// A descriptor that the library fills in.
Raw first(Maker& maker, Raw from, cudnnBackendAttributeName_t name,
          cudnnBackendDescriptorType_t type) {
  Raw filled = maker.make(type);
  std::int64_t count = 0;
  if (maker.status() == kSuccess) {
    maker.note(
        maker.call().get_attribute(from, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &filled),
        "get");
  }
  return filled;
}

struct HeuristicParts {
  std::optional<GraphParts> graph = GraphParts{};
  bool device = true;
  std::optional<cudnnBackendHeurMode_t> mode = CUDNN_HEUR_MODE_A;
};
Raw make_heuristic(Maker& maker, const HeuristicParts& parts) {
  const Raw graph = parts.graph ? make_graph(maker, *parts.graph) : nullptr;
  const Raw device = parts.device ? make_device(maker) : nullptr;
  const Raw raw = maker.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  maker.set(raw, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, parts.mode);
  maker.set(raw, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
  return maker.finalize(raw);
}

Raw make_plan(Maker& maker, Raw configuration, Raw device) {
  const Raw raw = maker.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  maker.set(raw, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
  return maker.finalize(raw);
}

/// The first proposal of the heuristic that has a plan, or else the last.
Raw make_proposed(Maker& maker, const HeuristicParts& parts) {
  constexpr std::int64_t kMost = 64;
  const Raw heuristic = make_heuristic(maker, parts);
  if (maker.status() != kSuccess) return nullptr;
  std::vector<Raw> list;
  for (std::int64_t i = 0; i < kMost; ++i) {
    list.push_back(maker.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  }
  std::int64_t count = 0;
  maker.note(maker.call().get_attribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, kMost, &count, list.data()),
             "get");
  list.resize(static_cast<std::size_t>(count));
  for (const Raw configuration : list) {
    Maker trial(maker.call());
    make_plan(trial, configuration, make_device(trial));
    if (trial.status() == kSuccess) return configuration;
  }
  return list.empty() ? nullptr : list.back();
}

/// The status of the plan of the heuristic's first proposal that has one, or else of the last.
WrongParts plans(const char* what, cudnnStatus_t status, void (*change)(HeuristicParts&)) {
  return {std::string("plan: ") + what, status, [=](Maker& maker) {
            HeuristicParts parts;
            change(parts);
            const Raw configuration = make_proposed(maker, parts);
            make_plan(maker, configuration, make_device(maker));
          }};
}

std::int64_t proposed_index(Maker& maker) {
  const Raw engine = first(maker, make_proposed(maker, {}), CUDNN_ATTR_ENGINECFG_ENGINE,
                           CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  return number<std::int64_t>(maker, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64);
}

Raw make_engine(Maker& maker, bool graph, std::optional<std::int64_t> index) {
  const Raw of = graph ? make_graph(maker, {}) : nullptr;
  const Raw device = make_device(maker);
  const Raw raw = maker.make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
  maker.set(raw, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, index);
  maker.set(raw, CUDNN_ATTR_ENGINE_DEVICEPROP, device);
  return maker.finalize(raw);
}
Raw make_engine(Maker& maker) { return make_engine(maker, true, proposed_index(maker)); }

Raw make_knob(Maker& maker, cudnnBackendKnobType_t type, std::int64_t value) {
  const Raw raw = maker.make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
  maker.set(raw, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
  return maker.finalize(raw);
}

Raw make_configuration(Maker& maker, Raw engine, Raw knob) {
  const Raw raw = maker.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  maker.set(raw, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob);
  return maker.finalize(raw);
}

void describe_device(Maker& maker, const std::string& json) {
  const Raw raw = maker.make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
            static_cast<std::int64_t>(json.size()) + 1, json.c_str());
  maker.finalize(raw);
}

void make_pack(Maker& maker, const Integers& ids, std::vector<void*> addresses) {
  const Raw raw = maker.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  maker.set(raw, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  if (!addresses.empty()) {
    maker.set(raw, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
              static_cast<std::int64_t>(addresses.size()), addresses.data());
  }
  maker.finalize(raw);
}

void each_tensor(HeuristicParts& parts, const std::function<void(TensorParts&)>& change) {
  OperationParts& operation = parts.graph->operation;
  for (auto* tensor : {&operation.input, &operation.weight, &operation.output}) change(**tensor);
}

/// A bf16 convolution with a bias of another type or of the same.
void with_bias(HeuristicParts& parts, cudnnDataType_t of_bias) {
  parts.graph = GraphParts::with_bias();
  for (auto* tensor : {&parts.graph->operation.input, &parts.graph->operation.weight,
                       &parts.graph->bias->output}) {
    (*tensor)->type = CUDNN_DATA_BFLOAT16;
  }
  parts.graph->bias->bias->type = of_bias;
}

std::vector<WrongParts> of_plans() {
  using standin::cudnn::Computes;
  return {
      plans("proposed", kSuccess, [](HeuristicParts&) {}),
      plans("of the fallback list", kSuccess,
            [](HeuristicParts& parts) { parts.mode = CUDNN_HEUR_MODE_FALLBACK; }),
      plans("no graph", kBad, [](HeuristicParts& parts) { parts.graph = {}; }),
      plans("no mode", kNotFinalized, [](HeuristicParts& parts) { parts.mode = {}; }),
      plans("no device in the heuristic", kNotFinalized,
            [](HeuristicParts& parts) { parts.device = false; }),
      plans(
          "bf16 by f32", kNotFinalized,
          [](HeuristicParts& parts) { parts.graph->operation.input->type = CUDNN_DATA_BFLOAT16; }),
      plans("a weight gradient in f32 from bf16", kNotFinalized,
            [](HeuristicParts& parts) {
              parts.graph->operation.computes = Computes::weight_gradient;
              parts.graph->operation.input->type = CUDNN_DATA_BFLOAT16;
              parts.graph->operation.output->type = CUDNN_DATA_BFLOAT16;
            }),
      plans("double, summed in f32", kNotFinalized,
            [](HeuristicParts& parts) {
              each_tensor(parts, [](TensorParts& tensor) { tensor.type = CUDNN_DATA_DOUBLE; });
            }),
      plans("summed in int8", kNotFinalized,
            [](HeuristicParts& parts) {
              parts.graph->operation.convolution->type = CUDNN_DATA_INT8;
            }),
      plans("no type of sums", kSuccess,
            [](HeuristicParts& parts) { parts.graph->operation.convolution->type = {}; }),
      plans("no factors", kSuccess,
            [](HeuristicParts& parts) {
              parts.graph->operation.alpha = {};
              parts.graph->operation.beta = {};
            }),
      plans("aligned to 4 bytes", kSuccess,
            [](HeuristicParts& parts) {
              each_tensor(parts, [](TensorParts& tensor) { tensor.alignment = 4; });
            }),
  };
}

std::vector<WrongParts> of_plans_with_bias() {
  return {
      plans("a bias", kSuccess,
            [](HeuristicParts& parts) { parts.graph = GraphParts::with_bias(); }),
      plans("a bias in bf16 to bf16", kSuccess,
            [](HeuristicParts& parts) { with_bias(parts, CUDNN_DATA_BFLOAT16); }),
      plans("a bias in f32 to bf16", kNotFinalized,
            [](HeuristicParts& parts) { with_bias(parts, CUDNN_DATA_FLOAT); }),
      plans("a bias that multiplies", kNotFinalized,
            [](HeuristicParts& parts) {
              parts.graph = GraphParts::with_bias();
              parts.graph->bias->mode = CUDNN_POINTWISE_MUL;
            }),
      plans("a bias of nothing known", kSuccess,
            [](HeuristicParts& parts) {
              parts.graph = GraphParts::with_bias();
              parts.graph->bias->described = false;
            }),
      plans("a bias of five channels to four", kNotFinalized,
            [](HeuristicParts& parts) {
              parts.graph = GraphParts::with_bias();
              parts.graph->bias->bias = TensorParts::map(4, {1, 5, 1, 1});
            }),
      plans("a bias to a higher output", kNotFinalized,
            [](HeuristicParts& parts) {
              parts.graph = GraphParts::with_bias();
              parts.graph->bias->output = TensorParts::map(3, {2, 4, 7, 6});
            }),
      plans("a bias to another product", kNotFinalized,
            [](HeuristicParts& parts) {
              parts.graph = GraphParts::with_bias();
              parts.graph->bias->product->id = 9;
            }),
  };
}

std::vector<WrongParts> of_single_plans() {
  return {
      {"plan: no configuration", kNotFinalized,
       [](Maker& maker) { make_plan(maker, nullptr, make_device(maker)); }},
      {"plan: open configuration", kNotFinalized,
       [](Maker& maker) {
         make_plan(maker, maker.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), make_device(maker));
       }},
      {"plan: no device", kSuccess,
       [](Maker& maker) { make_plan(maker, make_proposed(maker, {}), nullptr); }},
      {"plan: workspace of an open one", kOpen,
       [](Maker& maker) {
         number<std::int64_t>(maker, maker.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
                              CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64);
       }},
      {"plan: workspace as int32", CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
       [](Maker& maker) {
         const Raw plan = make_plan(maker, make_proposed(maker, {}), make_device(maker));
         number<std::int32_t>(maker, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                              CUDNN_TYPE_INT32);
       }},
  };
}

std::vector<WrongParts> of_engines() {
  return {
      {"engine: proposed", kSuccess, [](Maker& maker) { make_engine(maker); }},
      {"engine: no graph", CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
       [](Maker& maker) { make_engine(maker, false, proposed_index(maker)); }},
      {"engine: no index", kUnknown, [](Maker& maker) { make_engine(maker, true, {}); }},
      {"engine: index -1", kUnknown, [](Maker& maker) { make_engine(maker, true, -1); }},
      {"engine: index 9999", kUnknown, [](Maker& maker) { make_engine(maker, true, 9999); }},
      {"engine: read into a tensor", kBad,
       [](Maker& maker) {
         first(maker, make_proposed(maker, {}), CUDNN_ATTR_ENGINECFG_ENGINE,
               CUDNN_BACKEND_TENSOR_DESCRIPTOR);
       }},
      {"heuristic: results of an open one", kOpen,
       [](Maker& maker) {
         first(maker, maker.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR),
               CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
       }},
      {"knob: of no type", kSuccess,
       [](Maker& maker) { make_knob(maker, static_cast<cudnnBackendKnobType_t>(63), 1); }},
      {"configuration: without knobs", kSuccess,
       [](Maker& maker) { make_configuration(maker, make_engine(maker), nullptr); }},
      {"configuration: another engine's knob", kUnknown,
       [](Maker& maker) {
         make_configuration(maker, make_engine(maker),
                            make_knob(maker, CUDNN_KNOB_TYPE_LOAD_SIZE, 1));
       }},
      {"configuration: open knob", kOpen,
       [](Maker& maker) {
         make_configuration(maker, make_engine(maker),
                            maker.make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
       }},
  };
}

std::vector<WrongParts> of_the_rest() {
  static std::array<float, 1> memory{};
  void* const at = memory.data();
  return {
      {"device: no object", kBad, [](Maker& maker) { describe_device(maker, "abc"); }},
      {"device: empty object", kBad, [](Maker& maker) { describe_device(maker, "{}"); }},
      {"pack: three", kSuccess,
       [at](Maker& maker) {
         make_pack(maker, {1, 2, 3}, {at, at, at});
       }},
      {"pack: no ids", kBad,
       [at](Maker& maker) {
         make_pack(maker, {}, {at, at, at});
       }},
      {"pack: no addresses", kBad,
       [](Maker& maker) {
         make_pack(maker, {1, 2, 3}, {});
       }},
      {"pack: neither", kSuccess, [](Maker& maker) { make_pack(maker, {}, {}); }},
      {"pack: two addresses", kBad,
       [at](Maker& maker) {
         make_pack(maker, {1, 2, 3}, {at, at});
       }},
      {"pack: an address that is null", kSuccess,
       [at](Maker& maker) {
         make_pack(maker, {1, 2, 3}, {at, at, nullptr});
       }},
      {"pack: an id twice", kSuccess,
       [at](Maker& maker) {
         make_pack(maker, {1, 1, 3}, {at, at, at});
       }},
  };
}

}  // namespace

std::vector<WrongParts> wrong_engines() {
  std::vector<WrongParts> all = of_plans();
  for (const auto& list : {of_plans_with_bias(), of_single_plans(), of_engines(), of_the_rest()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace standin_tests
