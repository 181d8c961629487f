#include "graph/sharing.h"

#include <algorithm>

namespace trainyard {
namespace {

/// "weight [16, 3, 3, 3], bias [16]".
std::string text_of(const std::vector<ParameterSpec>& parameters) {
  std::string text;
  for (const ParameterSpec& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + parameter.name + " " + parameter.shape.text();
  }
  return text;
}

bool same_shapes(const std::vector<ParameterSpec>& a, const std::vector<ParameterSpec>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.shape == y.shape;
  });
}

}  // namespace

void ParameterLayers::add(const Node& node) {
  layers_[node.path] = {.type = std::string(node.op->type()),
                        .parameters_of = node.parameters_of,
                        .parameters = node.signature.parameters};
}

bool ParameterLayers::any_at(const std::string& path) const {
  if (layers_.count(path) != 0) return true;
  const auto below = layers_.lower_bound(path + ".");
  return below != layers_.end() && below->first.starts_with(path + ".");
}

std::string ParameterLayers::give(const Share& share, Node& node) const {
  const std::string owner = share.owner + node.path.substr(share.own.size());
  const auto found = layers_.find(owner);
  if (found == layers_.end()) return "share: there is no layer '" + owner + "' with parameters";
  const Layer& layer = found->second;
  const std::vector<ParameterSpec>& own = node.signature.parameters;
  if (layer.type != node.op->type()) {
    return "share: this is a " + std::string(node.op->type()) + ", '" + owner + "' is a " +
           layer.type;
  }
  if (!same_shapes(own, layer.parameters)) {
    return "share: its parameters are " + text_of(own) + ", those of '" + owner + "' are " +
           text_of(layer.parameters);
  }
  if (own != layer.parameters) {
    return "share: its parameters have a different init, l2 or decay from those of '" + owner +
           "'; make them equal";
  }
  node.parameters_of = layer.parameters_of.empty() ? owner : layer.parameters_of;
  return "";
}

}  // namespace trainyard
