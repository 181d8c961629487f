// Devices, heuristics, engines, their configurations, plans and packs of addresses.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <string>

#include "engines.h"
#include "status.h"

namespace standin::cudnn {
namespace {

/// What cuDNN requires of a device's description.
constexpr std::array kMembers{"maxGridSize",
                              "maxBlockSize",
                              "cudaDeviceId",
                              "deviceVer",
                              "driverVer",
                              "isTccDriver",
                              "l2CacheSize",
                              "maxCtasPerSM",
                              "maxRegistersPerSM",
                              "maxSharedMemoryPerBlock",
                              "maxSharedMemoryPerBlockOptin",
                              "maxThreadsPerBlock",
                              "maxThreadsPerSM",
                              "memClockRateKHz",
                              "multiProcessorCount",
                              "pciDeviceId",
                              "regsPerBlock",
                              "reservedSharedMemoryPerBlock",
                              "smClockRateKHz",
                              "supportCoopLaunch",
                              "totalGlobalMem",
                              "warpSize",
                              "deviceName"};

cudnnStatus_t check_description(const std::string& json) {
  if (!json.starts_with('{')) return bad_parameter("!json_object.IsObject()");
  for (const std::string member : kMembers) {
    if (json.find('"' + member + '"') == std::string::npos) {
      return bad_parameter("!json_object.HasMember(\"" + member + "\")");
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

bool is_open(const DescriptorPtr& descriptor) { return !descriptor || !descriptor->finalized; }

const Engine* engine_with(std::int64_t index) {
  const auto found = std::ranges::find(engines(), index, &Engine::index);
  return found == engines().end() ? nullptr : &*found;
}

/// An engine for the graph. Whether it supports the graph is stored in it.
DescriptorPtr make_engine(const Engine& engine, const DescriptorPtr& graph,
                          const DescriptorPtr& device) {
  auto made = std::make_shared<Descriptor>(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  made->put(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, std::vector{graph});
  made->put(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, std::vector{engine.index});
  made->put(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, engine.notes);
  made->engine = &engine;
  made->convolution = graph->convolution;
  made->serves = !is_open(device) && graph->convolution && engine.serves(*graph->convolution);
  made->finalized = true;
  return made;
}

DescriptorPtr make_knob(cudnnBackendKnobType_t type, std::int64_t value) {
  auto made = std::make_shared<Descriptor>(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
  made->put(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, std::vector{type});
  made->put(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, std::vector{value});
  made->finalized = true;
  return made;
}

DescriptorPtr make_configuration(const DescriptorPtr& engine, const Proposal& proposal) {
  std::vector<DescriptorPtr> knobs;
  for (std::size_t i = 0; i < proposal.knobs.size(); ++i) {
    knobs.push_back(make_knob(proposal.engine->knobs[i].type, proposal.knobs[i]));
  }
  auto made = std::make_shared<Descriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  made->put(CUDNN_ATTR_ENGINECFG_ENGINE, std::vector{engine});
  made->put(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, std::move(knobs));
  made->finalized = true;
  return made;
}

bool is_proposing(cudnnBackendHeurMode_t mode) {
  return mode == CUDNN_HEUR_MODE_A || mode == CUDNN_HEUR_MODE_B ||
         mode == CUDNN_HEUR_MODE_INSTANT || mode == CUDNN_HEUR_MODE_FALLBACK;
}

}  // namespace

cudnnStatus_t finalize_device(const Descriptor& device) {
  if (device.has(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION)) {
    const auto text = device.list<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
    return check_description(std::string(text.begin(), text.end()));
  }
  int count = 0;
  const int id = device.one(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, std::int32_t{0});
  if (cudaGetDeviceCount(&count) != cudaSuccess || id < 0 || id >= count) {
    return refuse(CUDNN_STATUS_NOT_INITIALIZED,
                  "cudaDeviceGetAttribute(&deviceProp.maxGridSize[0], ...) != cudaSuccess");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_heuristic(Descriptor& heuristic) {
  const DescriptorPtr graph = heuristic.child(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (is_open(graph)) return bad_parameter("nullptr == opset_ptr");
  std::vector<DescriptorPtr> results;
  const auto mode = heuristic.one(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODES_COUNT);
  if (is_proposing(mode)) {  // others propose nothing
    for (const Proposal& proposal : proposals(mode)) {
      results.push_back(make_configuration(
          make_engine(*proposal.engine, graph, heuristic.child(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP)),
          proposal));
    }
  }
  heuristic.put(CUDNN_ATTR_ENGINEHEUR_RESULTS, std::move(results));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_engine(Descriptor& engine) {
  const DescriptorPtr graph = engine.child(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  if (is_open(graph)) {
    return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                  "Received null pointer on operation set at: nullptr == opset_ptr");
  }
  const Engine* const found =
      engine_with(engine.one(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, std::int64_t{-1}));
  if (found == nullptr) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "");
  const DescriptorPtr made = make_engine(*found, graph, engine.child(CUDNN_ATTR_ENGINE_DEVICEPROP));
  engine.engine = made->engine;
  engine.convolution = made->convolution;
  engine.serves = made->serves;
  engine.put(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, found->notes);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_configuration(const Descriptor& configuration) {
  const DescriptorPtr engine = configuration.child(CUDNN_ATTR_ENGINECFG_ENGINE);
  // cuDNN 9.19 ends the program here.
  if (is_open(engine)) return bad_parameter("engine.isFinalized() == false");
  for (const DescriptorPtr& choice : configuration.children(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
    const auto type = choice->one(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_KNOB_TYPE_COUNTS);
    const auto value = choice->one(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, std::int64_t{0});
    const auto& knobs = engine->engine->knobs;
    const auto knob = std::ranges::find(knobs, type, &KnobInfo::type);
    if (knob == knobs.end() || value < knob->least || value > knob->most) {
      return refuse(CUDNN_STATUS_NOT_SUPPORTED, "");
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

std::vector<std::int64_t> knobs_of(const Descriptor& configuration) {
  std::vector<std::int64_t> values;
  for (const KnobInfo& knob : configuration.child(CUDNN_ATTR_ENGINECFG_ENGINE)->engine->knobs) {
    values.push_back(knob.standard);
    for (const DescriptorPtr& choice : configuration.children(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
      if (choice->one(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_KNOB_TYPE_COUNTS) == knob.type) {
        values.back() = choice->one(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, knob.standard);
      }
    }
  }
  return values;
}

cudnnStatus_t finalize_plan(Descriptor& plan) {
  const DescriptorPtr configuration = plan.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  // The configuration of an engine that does not support the graph counts as one that was never
  // finalized.
  if (is_open(configuration) || !configuration->child(CUDNN_ATTR_ENGINECFG_ENGINE)->serves) {
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "assert_finalized == true");
  }
  const Descriptor& engine = *configuration->child(CUDNN_ATTR_ENGINECFG_ENGINE);
  if (engine.engine->fails == Engine::Fails::at_plan) {
    // A failure in a library that shares the program's runtime may leave CUDA's last error behind.
    static_cast<void>(cudaSetDevice(-1));
    return refuse(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING,
                  "libnvrtc.so cannot be opened");
  }
  plan.put(
      CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
      std::vector{workspace_bytes(*engine.engine, *engine.convolution, knobs_of(*configuration))});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_pack(const Descriptor& pack) {
  const auto ids = pack.list<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  return ids.size() == pointers.size() ? CUDNN_STATUS_SUCCESS
                                       : bad_parameter("ptrs_count != uids_count");
}

}  // namespace standin::cudnn
