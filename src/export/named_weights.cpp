#include "export/named_weights.h"

#include <cstring>
#include <set>
#include <sstream>
#include <utility>

#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/tensor_slots.h"
#include "config/diagnostics.h"
#include "config/load.h"
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

namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

void add_names(const config::Node& value, NameMapEntry& entry, config::Diagnostics& diagnostics) {
  if (value.kind == config::Node::Kind::list) {
    for (const config::Node& item : value.items) {
      if (item.kind == config::Node::Kind::list) {
        diagnostics.error(item.where, "expected a name, found a list");
      } else {
        add_names(item, entry, diagnostics);
      }
    }
  } else if (value.is_scalar() && !value.text.empty()) {
    entry.theirs.push_back(value.text);
  } else {
    diagnostics.error(value.where, entry.ours + ": expected a name or a list of names, found " +
                                       config::describe(value));
  }
}

NameMap read_yaml_map(const std::filesystem::path& path, config::Diagnostics& diagnostics) {
  const config::Node file = config::load_yaml(path);
  if (file.kind != config::Node::Kind::map) {
    diagnostics.error(file.where, "expected a map of names, found " + config::describe(file));
  }
  NameMap map;
  for (const config::Entry& entry : file.entries) {
    map.push_back({.ours = entry.key, .theirs = {}, .where = entry.where});
    add_names(entry.value, map.back(), diagnostics);
  }
  return map;
}

NameMap read_columns(const std::filesystem::path& path, config::Diagnostics& diagnostics) {
  std::istringstream text(read_text(path, ErrorKind::config, kMostBytes));
  NameMap map;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    NameMapEntry entry{.where = {path.string(), number, 1}};
    if (!(words >> entry.ours)) continue;
    for (std::string name; words >> name;) entry.theirs.push_back(name);
    if (entry.theirs.empty()) {
      diagnostics.error(entry.where, "expected 'OURS THEIRS', found '" + entry.ours + "' alone");
    }
    map.push_back(std::move(entry));
  }
  return map;
}

}  // namespace

NameMap read_name_map(const std::filesystem::path& path) {
  config::Diagnostics diagnostics;
  const std::string extension = lower_case(path.extension().string());
  const bool yaml = extension == ".yaml" || extension == ".yml";
  NameMap map = yaml ? read_yaml_map(path, diagnostics) : read_columns(path, diagnostics);
  std::set<std::string> names;
  for (const NameMapEntry& entry : map) {
    if (names.insert(entry.ours).second) continue;
    diagnostics.error(entry.where, "'" + entry.ours + "' has a name already");
  }
  diagnostics.raise();
  return map;
}

}  // namespace trainyard
