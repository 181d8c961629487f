#include "scripted_cudnn.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

namespace trainyard::testing {
namespace {

ScriptedCudnn script;

/// Numbers and descriptors by attribute.
struct Scripted {
  cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, std::vector<std::int64_t>> numbers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<Scripted*>> links = {};

  [[nodiscard]] std::int64_t number(cudnnBackendAttributeName_t name) const {
    return numbers.at(name).at(0);
  }
};

Scripted* of(cudnnBackendDescriptor_t descriptor) { return static_cast<Scripted*>(descriptor); }

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    default:
      return 4;
  }
}

const ScriptedEngine* engine_with(std::int64_t index) {
  const auto found = std::ranges::find(script.engines, index, &ScriptedEngine::index);
  return found == script.engines.end() ? nullptr : &*found;
}

/// The engine of a configuration.
const ScriptedEngine* engine_of(const Scripted& configuration) {
  if (configuration.numbers.contains(CUDNN_ATTR_ENGINECFG_ENGINE)) {  // proposed
    return engine_with(configuration.number(CUDNN_ATTR_ENGINECFG_ENGINE));
  }
  return engine_with(configuration.links.at(CUDNN_ATTR_ENGINECFG_ENGINE)
                         .at(0)
                         ->number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
}

std::vector<const ScriptedEngine*> proposed(const Scripted& heuristic) {
  const Scripted& graph = *heuristic.links.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).at(0);
  const std::vector<Scripted*>& operations = graph.links.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const bool adds_bias = operations.size() > 1;
  const auto beta = operations[0]->numbers.find(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
  const bool adds_result =
      beta != operations[0]->numbers.end() &&
      std::bit_cast<float>(static_cast<std::uint32_t>(beta->second.at(0))) == 1;
  const bool fallback = heuristic.number(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
  std::vector<const ScriptedEngine*> list;
  for (const ScriptedEngine& engine : script.engines) {
    if (engine.adds_bias == adds_bias && engine.adds_result == adds_result &&
        engine.fallback == fallback) {
      list.push_back(&engine);
    }
  }
  return list;
}

cudnnStatus_t scripted_create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
  ++script.descriptors;
  *made = new Scripted{type};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t scripted_destroy(cudnnBackendDescriptor_t descriptor) {
  --script.descriptors;
  delete of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t scripted_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, std::int64_t count,
                           const void* values) {
  const auto* from = static_cast<const std::byte*>(values);
  for (std::int64_t i = 0; i < count; ++i, from += bytes_of(type)) {
    std::int64_t number = 0;
    std::memcpy(&number, from, bytes_of(type));
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      of(descriptor)->links[name].push_back(reinterpret_cast<Scripted*>(number));
    } else {
      of(descriptor)->numbers[name].push_back(number);
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t scripted_finalize(cudnnBackendDescriptor_t descriptor) {
  const Scripted& held = *of(descriptor);
  switch (held.type) {
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      ++script.lists;
      return held.number(CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_A ? script.mode_a
                                                                          : CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return engine_with(held.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX)) == nullptr
                 ? CUDNN_STATUS_BAD_PARAM
                 : CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      ++script.plans;
      return engine_of(*held.links.at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).at(0))->plan;
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

/// Fills the descriptors that the caller made for the proposals of a heuristic.
std::int64_t fill_proposals(const Scripted& heuristic, std::int64_t most, Scripted* const* to) {
  const auto list = proposed(heuristic);
  const auto count = std::min(most, static_cast<std::int64_t>(list.size()));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    to[at]->numbers[CUDNN_ATTR_ENGINECFG_ENGINE] = {list[at]->index};
  }
  return most == 0 ? static_cast<std::int64_t>(list.size()) : count;
}

std::int64_t fill_knobs(const ScriptedEngine& engine, Scripted* const* to) {
  for (std::size_t i = 0; i < engine.knobs.size(); ++i) {
    to[i]->numbers[CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE] = {engine.knobs[i].type};
    to[i]->numbers[CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE] = {engine.knobs[i].value};
  }
  return static_cast<std::int64_t>(engine.knobs.size());
}

std::int64_t fill_numbers(const std::vector<std::int64_t>& numbers, std::size_t bytes, void* to) {
  auto* at = static_cast<std::byte*>(to);
  for (const std::int64_t number : numbers) {
    std::memcpy(at, &number, bytes);
    at += bytes;
  }
  return static_cast<std::int64_t>(numbers.size());
}

std::vector<std::int64_t> numbers_of(const Scripted& held, cudnnBackendAttributeName_t name) {
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    const Scripted& configuration = *held.links.at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).at(0);
    return {engine_of(configuration)->workspace_bytes};
  }
  if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
    const ScriptedEngine& engine = *engine_with(held.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
    return {engine.notes.begin(), engine.notes.end()};
  }
  return held.numbers.at(name);
}

cudnnStatus_t scripted_get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, std::int64_t most, std::int64_t* count,
                           void* values) {
  const Scripted& held = *of(descriptor);
  auto* const descriptors = static_cast<Scripted* const*>(values);
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      *count = fill_proposals(held, most, descriptors);
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      descriptors[0]->numbers[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = {held.number(name)};
      *count = 1;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      *count = fill_knobs(*engine_with(held.number(CUDNN_ATTR_ENGINECFG_ENGINE)), descriptors);
      return CUDNN_STATUS_SUCCESS;
    default:
      *count = fill_numbers(numbers_of(held, name), bytes_of(type), values);
      return CUDNN_STATUS_SUCCESS;
  }
}

std::size_t scripted_version() { return 91900; }
const char* scripted_status(cudnnStatus_t status) {
  return status == CUDNN_STATUS_EXECUTION_FAILED ? "EXECUTION_FAILED"
         : status == CUDNN_STATUS_BAD_PARAM      ? "BAD_PARAM"
                                                 : "NOT_SUPPORTED";
}
void scripted_reason(char* to, std::size_t bytes) { std::strncpy(to, "no driver\n", bytes); }

}  // namespace

cudnn::Library scripted_library() {
  script = {};
  return cudnn::Library(cudnn::Functions{.version = scripted_version,
                                         .error_string = scripted_status,
                                         .last_error_string = scripted_reason,
                                         .create = nullptr,
                                         .destroy = nullptr,
                                         .set_stream = nullptr,
                                         .create_descriptor = scripted_create,
                                         .destroy_descriptor = scripted_destroy,
                                         .finalize = scripted_finalize,
                                         .set_attribute = scripted_set,
                                         .get_attribute = scripted_get,
                                         .execute = nullptr});
}

ScriptedCudnn& scripted_cudnn() { return script; }

cudnn::ConvGraph small_conv(DType type) {
  const cudnn::GraphTensor map{type, {2, 8, 4, 4}, {128, 1, 32, 8}};
  return {.input = map,
          .weight = {type, {8, 8, 3, 3}, {72, 1, 24, 8}},
          .output = map,
          .before = {1, 1},
          .after = {1, 1}};
}

}  // namespace trainyard::testing
