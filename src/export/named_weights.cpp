#include "export/named_weights.h"

#include <cstring>

#include "checkpoint/tensor_slots.h"
#include "formats/float_types.h"

namespace trainyard {
namespace {

std::string fault_of(const WeightSpec& spec, const NamedTensor* tensor) {
  if (tensor == nullptr) return spec.name + ": missing, expected " + spec.shape.text();
  const std::string fault =
      shape_fault({.name = spec.name, .shape = spec.shape, .data = nullptr, .bytes = 0}, *tensor);
  if (!fault.empty() || is_float(tensor->type)) return fault;
  return spec.name + ": has type " + std::string(safetensors_name(tensor->type)) +
         ", expected floats";
}

std::vector<float> floats_of(const NamedTensor& tensor) {
  const std::vector<std::byte> bytes = converted(tensor, StoredType::f32).bytes;
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::vector<WeightSpec> weight_specs(const Graph& network) {
  std::vector<WeightSpec> specs;
  for (const Node& node : network.nodes) {
    for (const ParameterSpec& parameter : own_parameters(node)) {
      specs.push_back({node.path + "." + parameter.name, parameter.shape});
    }
    for (const StatisticSpec& statistic : node.signature.statistics) {
      specs.push_back({node.path + "." + statistic.name, statistic.shape});
    }
  }
  return specs;
}

NamedWeights read_named_weights(const SafetensorsFile& file, const std::string& source,
                                const Graph& network) {
  NamedWeights table;
  std::vector<std::string> faults;
  for (const WeightSpec& spec : weight_specs(network)) {
    const NamedTensor* const tensor = file.find(spec.name);
    if (const std::string fault = fault_of(spec, tensor); !fault.empty()) {
      faults.push_back(fault);
    } else {
      table[spec.name] = floats_of(*tensor);
    }
  }
  raise_misfits(faults, source);
  return table;
}

}  // namespace trainyard
