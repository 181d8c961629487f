#include "export/named_weights.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/tensor_slots.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "formats/float_types.h"
#include "run/initial_weights.h"

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

using Words = std::vector<std::string>;

/// What a tensor may be called below the name of its layer; several are added. Their own name is
/// tried first.
struct LastWord {
  const char* ours;
  Words theirs;
};

const std::vector<LastWord>& last_words() {
  static const std::vector<LastWord> words = {
      {"gamma", {"weight"}},
      {"beta", {"bias"}},
      {"alpha", {"weight"}},
      {"weight", {"weight_ih_l0"}},
      {"recurrent", {"weight_hh_l0"}},
      {"bias", {"bias_ih_l0", "bias_hh_l0"}},
      {"recurrent_bias", {"bias_hh_l0"}},
  };
  return words;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  Words extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return "[" + joined(extents) + "]";
}

class Import {
 public:
  Import(const SafetensorsFile& file, const Graph& network, const NameMap& map)
      : file_(file), specs_(weight_specs(network)) {
    for (const NameMapEntry& entry : map) entries_[entry.ours] = &entry;
    check_names(map);
  }

  ImportedWeights run(const std::string& source) {
    imported_.sums.reserve(specs_.size());  // tensors point into them
    for (const WeightSpec& spec : specs_) take(spec);
    raise_misfits(faults_, source);
    list_unused(false);
    list_unused(true);  // last: counters such as num_batches_tracked
    return std::move(imported_);
  }

 private:
  /// Tensors of the file that no tensor of the network is from, of one value or of several.
  void list_unused(bool single) {
    for (const NamedTensor& tensor : file_.tensors()) {
      if (used_.contains(tensor.name) || tensor.shape.empty() != single) continue;
      imported_.unused.push_back(tensor.name);
    }
  }

  static std::string layer_of(const std::string& tensor) {
    return tensor.substr(0, tensor.rfind('.'));
  }

  void check_names(const NameMap& map) {
    std::set<std::string> ours, theirs;  // tensors and layers
    for (const WeightSpec& spec : specs_) ours.insert({spec.name, layer_of(spec.name)});
    for (const NamedTensor& tensor : file_.tensors()) {
      theirs.insert({tensor.name, layer_of(tensor.name)});
    }
    const auto check = [&](const NameMapEntry& entry, const std::string& name,
                           const std::set<std::string>& known, const char* whose) {
      if (known.contains(name)) return;
      faults_.push_back(entry.where.text() + ": " + whose + " has no '" + name + "'" +
                        config::suggestion(name, Words(known.begin(), known.end())));
    };
    for (const NameMapEntry& entry : map) {
      check(entry, entry.ours, ours, "the network");
      for (const std::string& name : entry.theirs) check(entry, name, theirs, "the file");
    }
  }

  /// The names in the file that `spec` is the sum of; empty if there are none.
  [[nodiscard]] Words sources_of(const WeightSpec& spec) const {
    if (const auto found = entries_.find(spec.name); found != entries_.end()) {
      return found->second->theirs;
    }
    const std::string layer = layer_of(spec.name), word = spec.name.substr(layer.size() + 1);
    const auto found = entries_.find(layer);
    if (found == entries_.end()) return all_there({spec.name});
    const std::string& their_layer = found->second->theirs.front();
    if (Words own = all_there({their_layer + "." + word}); !own.empty()) return own;
    for (const LastWord& other : last_words()) {
      if (word != other.ours) continue;
      Words names;
      for (const std::string& theirs : other.theirs) {
        // A gru that resets after its product keeps both biases.
        if (word == "bias" && theirs == "bias_hh_l0" && has(layer + ".recurrent_bias")) continue;
        names.push_back(their_layer + "." + theirs);
      }
      if (names = all_there(std::move(names)); !names.empty()) return names;
    }
    return {};
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return std::ranges::find(specs_, name, &WeightSpec::name) != specs_.end();
  }

  [[nodiscard]] Words all_there(Words names) const {
    const auto is_there = [&](const std::string& name) { return file_.find(name) != nullptr; };
    return std::ranges::all_of(names, is_there) ? names : Words();
  }

  void take(const WeightSpec& spec) {
    const Words sources = sources_of(spec);
    if (sources.empty()) {
      imported_.missing.push_back(spec.name);
      return;
    }
    std::vector<const NamedTensor*> tensors;
    for (const std::string& name : sources) {
      const NamedTensor* const tensor = file_.find(name);
      if (tensor == nullptr) return;  // said by check_names()
      used_.insert(name);
      if (!fits(spec, *tensor)) return;
      tensors.push_back(tensor);
    }
    NamedTensor tensor = *tensors.front();
    if (tensors.size() > 1) {
      tensor.type = StoredType::f32;
      tensor.bytes = std::as_bytes(std::span(imported_.sums.emplace_back(sum_of(tensors))));
    }
    tensor.name = spec.name;
    imported_.tensors.push_back(std::move(tensor));
  }

  bool fits(const WeightSpec& spec, const NamedTensor& tensor) {
    if (tensor.shape != extents(spec.shape)) {
      faults_.push_back("the network's " + spec.name + " is " + spec.shape.text() +
                        ", the file's " + tensor.name + " is " + shape_text(tensor.shape));
      return false;
    }
    if (!is_float(tensor.type)) {
      faults_.push_back("the file's " + tensor.name + " has type " +
                        std::string(safetensors_name(tensor.type)) + ", expected floats");
      return false;
    }
    return true;
  }

  static std::vector<float> sum_of(const std::vector<const NamedTensor*>& tensors) {
    std::vector<float> sum;
    for (const NamedTensor* tensor : tensors) {
      const std::vector<std::byte> bytes = converted(*tensor, StoredType::f32).bytes;
      sum.resize(bytes.size() / sizeof(float));
      for (std::size_t i = 0; i < sum.size(); ++i) {
        float value = 0;
        std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
        sum[i] += value;
      }
    }
    return sum;
  }

  const SafetensorsFile& file_;
  std::vector<WeightSpec> specs_;
  std::map<std::string, const NameMapEntry*> entries_;
  ImportedWeights imported_;
  std::set<std::string> used_;
  Words faults_;
};

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

NameMap read_yaml_map(const fs::path& path, config::Diagnostics& diagnostics) {
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

NameMap read_columns(const fs::path& path, config::Diagnostics& diagnostics) {
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

NameMap read_name_map(const fs::path& path) {
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

ImportedWeights import_weights(const SafetensorsFile& file, const std::string& source,
                               const Graph& network, const NameMap& map) {
  return Import(file, network, map).run(source);
}

std::string text_of(const ImportedWeights& imported, std::size_t shown) {
  const std::size_t all = imported.tensors.size() + imported.missing.size();
  std::string text =
      imported.missing.empty() ? "all " : std::to_string(imported.tensors.size()) + " of ";
  text += count_text(static_cast<std::int64_t>(all), "tensor") + " of the network";
  if (!imported.missing.empty())
    text += "\n  not in the file " + first_names(imported.missing, shown);
  if (!imported.unused.empty())
    text += "\n  of the file, not used " + first_names(imported.unused, shown);
  return text;
}

}  // namespace trainyard
