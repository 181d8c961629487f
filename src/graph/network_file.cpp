#include "graph/network_file.h"

#include <algorithm>

#include "base/text.h"
#include "config/foreign_words.h"
#include "config/load.h"
#include "config/scalars.h"
#include "graph/words.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

void check_keys(const config::Node& map, const std::string& what,
                const std::vector<std::string>& known, Diagnostics& diagnostics,
                std::string_view place = "") {
  for (const config::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    diagnostics.error(entry.where, "unknown key '" + entry.key + "' in " + what +
                                       config::meaning_or_nearest(entry.key, place, known));
  }
}

void read_profile(const config::Node* node, NetworkFile& file, Diagnostics& diagnostics) {
  if (node == nullptr) return;
  if (const auto profile = config::profile_named(node->text)) {
    file.profile = *profile;
    return;
  }
  const std::vector<std::string> names = config::profile_names();
  diagnostics.error(node->where, "profile: expected one of " + joined(names) + ", found " +
                                     describe(*node) + config::suggestion(node->text, names));
}

/// Checks a name for use in expressions: variables, arguments, loop variables.
bool check_name(const std::string& name, const std::string& what, const Position& where,
                Diagnostics& diagnostics) {
  if (is_identifier(name) && !is_expression_word(name)) return true;
  diagnostics.error(where, what + " '" + name + "' " +
                               (is_identifier(name) ? "is a reserved word; choose another name"
                                                    : "must be letters, digits and '_', and not "
                                                      "begin with a digit"));
  return false;
}

/// Expressions read the fields of a map by name, so they must be names.
void check_fields(const config::Node& value, const std::string& variable,
                  Diagnostics& diagnostics) {
  for (const config::Node& item : value.items) check_fields(item, variable, diagnostics);
  for (const config::Entry& entry : value.entries) {
    if (!is_identifier(entry.key)) {
      diagnostics.error(entry.where, "variable '" + variable + "': field '" + entry.key +
                                         "' must be letters, digits and '_', and not begin with a "
                                         "digit");
    }
    check_fields(entry.value, variable, diagnostics);
  }
}

/// True for a section of the file that is there and is a map; another value is an error.
bool is_map(const config::Node* node, const std::string& wanted, Diagnostics& diagnostics) {
  if (node == nullptr || node->kind == Kind::null) return false;
  if (node->kind == Kind::map) return true;
  diagnostics.error(node->where, wanted + ", found " + describe(*node));
  return false;
}

void read_variables(const config::Node* node, NetworkFile& file, Diagnostics& diagnostics) {
  if (!is_map(node, "vars: expected a map of names and values", diagnostics)) return;
  std::size_t values = 0;
  for (const config::Entry& entry : node->entries) {
    if (!check_name(entry.key, "variable", entry.where, diagnostics)) continue;
    check_fields(entry.value, entry.key, diagnostics);
    const std::size_t errors = diagnostics.size();
    config::Node value = config::resolved(entry.value, file.variables, diagnostics);
    if (diagnostics.size() == errors) values += config::size_of(value).values;
    if (values > config::FileLimits{}.nodes) {
      diagnostics.error(entry.where, "vars: more than " +
                                         std::to_string(config::FileLimits{}.nodes) +
                                         " values up to here, after evaluation");
      return;
    }
    file.variables[entry.key] = std::move(value);
  }
}

void read_op_defaults(const config::Entry& entry, NetworkFile& file, Diagnostics& diagnostics) {
  const config::Kind<Op>* op = find_op(entry.key);
  if (op == nullptr) {
    std::vector<std::string> words = item_words();
    std::erase_if(words, [](const std::string& word) { return is_structure(word); });
    diagnostics.error(entry.where, "defaults: unknown layer type '" + entry.key + "'" +
                                       config::suggestion(entry.key, words));
    return;
  }
  if (entry.value.kind != Kind::map) {
    diagnostics.error(entry.value.where, "defaults of '" + entry.key +
                                             "': expected a map of its keys, found " +
                                             describe(entry.value));
    return;
  }
  check_keys(entry.value, "the defaults of '" + entry.key + "'", keys_of(*op, file.profile),
             diagnostics, entry.key);
  file.defaults[entry.key] = config::resolved(entry.value, file.variables, diagnostics);
}

/// The vocabulary of the input is the default of layers that have the key.
void give_vocabulary(NetworkFile& file) {
  config::Entry vocabulary;
  vocabulary.key = "vocabulary";
  vocabulary.value.kind = Kind::integer;
  vocabulary.value.integer = file.input.vocabulary;
  vocabulary.value.real = static_cast<double>(file.input.vocabulary);
  vocabulary.value.text = std::to_string(file.input.vocabulary);
  for (const config::Kind<Op>& op : op_kinds()) {
    const std::vector<std::string> keys = keys_of(op, file.profile);
    if (std::find(keys.begin(), keys.end(), vocabulary.key) == keys.end()) continue;
    config::Node& defaults = file.defaults[std::string(op.name)];
    defaults.kind = Kind::map;
    if (defaults.find(vocabulary.key) == nullptr) defaults.entries.push_back(vocabulary);
  }
}

void read_defaults(const config::Node* node, NetworkFile& file, Diagnostics& diagnostics) {
  if (!is_map(node, "defaults: expected a map of layer types", diagnostics)) return;
  for (const config::Entry& entry : node->entries) read_op_defaults(entry, file, diagnostics);
}

/// `f` or `k=3`.
BlockArgument read_argument(const config::Node& node, const std::string& block,
                            Diagnostics& diagnostics) {
  const std::size_t equals = node.text.find('=');
  BlockArgument argument;
  argument.name = node.text.substr(0, equals);
  while (!argument.name.empty() && argument.name.back() == ' ') argument.name.pop_back();
  if (equals != std::string::npos) {
    std::string value = node.text.substr(equals + 1);
    value.erase(0, value.find_first_not_of(' '));
    argument.fallback = config::scalar_node(value, false, node.where);
  }
  check_name(argument.name, "block '" + block + "': argument", node.where, diagnostics);
  return argument;
}

void read_arguments(const config::Node* node, const std::string& name, Block& block,
                    Diagnostics& diagnostics) {
  if (node == nullptr || node->kind == Kind::null) return;
  if (node->kind != Kind::list) {
    diagnostics.error(node->where, "block '" + name +
                                       "': args: expected a list such as [f, k=3], "
                                       "found " +
                                       describe(*node));
    return;
  }
  for (const config::Node& item : node->items) {
    if (item.kind != Kind::text) {
      diagnostics.error(item.where, "block '" + name +
                                        "': args: expected name or name=value, "
                                        "found " +
                                        describe(item));
      continue;
    }
    BlockArgument argument = read_argument(item, name, diagnostics);
    const bool twice =
        std::any_of(block.arguments.begin(), block.arguments.end(),
                    [&](const BlockArgument& other) { return other.name == argument.name; });
    if (twice) {
      diagnostics.error(item.where,
                        "block '" + name + "': argument '" + argument.name + "' is given twice");
    }
    block.arguments.push_back(std::move(argument));
  }
}

/// Block names share the namespace of layer paths: "inc" and "inc1" would both give "inc11".
bool check_block_name(const config::Entry& entry, const config::Node& blocks,
                      Diagnostics& diagnostics) {
  const std::string& name = entry.key;
  if (!is_identifier(name)) {
    diagnostics.error(entry.where, "block '" + name +
                                       "' must be letters, digits and '_', and not begin with a "
                                       "digit");
    return false;
  }
  if (find_op(name) != nullptr || is_structure(name) || is_modifier(name) || name == "layers") {
    diagnostics.error(entry.where, "block '" + name + "' has the name of a built-in; rename it");
    return false;
  }
  const std::string stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
  for (std::size_t length = stem.size(); length < name.size(); ++length) {
    const std::string other = name.substr(0, length);
    if (find_op(other) == nullptr && blocks.find(other) == nullptr) continue;
    diagnostics.error(entry.where, "block '" + name + "' is '" + other +
                                       "' with a number, as the paths of '" + other +
                                       "' are; give it another name");
    return false;
  }
  return true;
}

void read_block(const config::Entry& entry, NetworkFile& file, Diagnostics& diagnostics) {
  const config::Node& body = entry.value;
  const std::string what = "block '" + entry.key + "'";
  if (body.kind != Kind::map) {
    diagnostics.error(body.where,
                      what + ": expected a map with args and layers, found " + describe(body));
    return;
  }
  check_keys(body, what, {"args", "layers"}, diagnostics);
  Block block;
  block.where = entry.where;
  read_arguments(body.find("args"), entry.key, block, diagnostics);
  const config::Node* layers = body.find("layers");
  if (layers == nullptr) {
    diagnostics.missing(entry.where, what + ": missing key 'layers'");
  } else if (layers->kind != Kind::list) {
    diagnostics.error(layers->where,
                      what + ": layers: expected a list of layers, found " + describe(*layers));
  } else {
    block.layers = *layers;
  }
  file.blocks.emplace(entry.key, std::move(block));
}

void read_blocks(const config::Node* node, NetworkFile& file, Diagnostics& diagnostics) {
  if (!is_map(node, "blocks: expected a map of blocks", diagnostics)) return;
  for (const config::Entry& entry : node->entries) {
    check_block_name(entry, *node, diagnostics);
    read_block(entry, file, diagnostics);
  }
}

void check_required(const config::Node& network, Diagnostics& diagnostics) {
  const bool input = network.find("input") != nullptr;
  const bool layers = network.find("layers") != nullptr;
  if (input && layers) return;
  const std::string keys = input    ? "key 'layers'"
                           : layers ? "key 'input'"
                                    : "keys 'input' and 'layers'";
  diagnostics.missing(network.where, "missing " + keys +
                                         " in 'network'; it needs input: [channels, height, "
                                         "width] and layers: [...]");
}

void read_layers(const config::Node& network, NetworkFile& file, Diagnostics& diagnostics) {
  const config::Node* layers = network.find("layers");
  if (layers == nullptr) return;
  if (layers->kind != Kind::list || layers->items.empty()) {
    diagnostics.error(layers->where,
                      "layers: expected a list of at least one layer, found " +
                          (layers->kind == Kind::list ? "an empty list" : describe(*layers)));
  } else {
    file.layers = *layers;
  }
}

void read_outputs(const config::Node& network, NetworkFile& file, Diagnostics& diagnostics) {
  const config::Node* written = network.find("outputs");
  if (written == nullptr || written->kind == Kind::null) return;
  if (written->kind != Kind::list) {
    diagnostics.error(written->where,
                      "outputs: expected a list of names, found " + describe(*written));
    return;
  }
  file.outputs = *written;
}

}  // namespace

NetworkFile read_network_file(const config::Node& network, config::Profile profile,
                              Diagnostics& diagnostics) {
  NetworkFile file;
  file.profile = profile;
  if (network.kind != Kind::map) {
    diagnostics.error(network.where,
                      "network: expected a map with input and layers, found " + describe(network));
    return file;
  }
  check_keys(network, "'network'",
             {"profile", "include", "vars", "input", "defaults", "blocks", "layers", "outputs"},
             diagnostics, "network");
  if (const config::Node* include = network.find("include")) {
    diagnostics.error(include->where, "include: this network is not read from a file");
  }
  check_required(network, diagnostics);
  read_profile(network.find("profile"), file, diagnostics);
  read_variables(network.find("vars"), file, diagnostics);
  if (const config::Node* input = network.find("input")) {
    file.input = read_input(*input, file.variables, diagnostics);
  }
  read_defaults(network.find("defaults"), file, diagnostics);
  if (file.input.vocabulary > 0) give_vocabulary(file);
  read_blocks(network.find("blocks"), file, diagnostics);
  read_layers(network, file, diagnostics);
  read_outputs(network, file, diagnostics);
  return file;
}

}  // namespace trainyard
