#include "export/onnx_export.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "export/onnx_layer.h"

namespace trainyard {
namespace {

const OnnxForm& form_of(const Node& node) {
  const std::span<const OnnxForm> forms = onnx_forms();
  const auto found = std::ranges::find(forms, node.op->type(), &OnnxForm::op);
  TY_CHECK(found != forms.end(), std::string(node.op->type()) + " is in no list of onnx_forms.cpp");
  return *found;
}

OnnxValue described(const Graph& network, const std::string& name, ValueId id) {
  const Value& value = network.values[id];
  OnnxValue result{.name = name, .integers = value.type == DType::i32, .dims = {}};
  for (int axis = 1; axis < value.shape.rank(); ++axis) result.dims.push_back(value.shape[axis]);
  return result;
}

class OnnxExport {
 public:
  OnnxExport(const Graph& network, const NamedWeights& weights)
      : network_(network), values_(network.values.size()), context_{network, weights, model_,
                                                                    names_,  values_, outputs_} {
    model_.name = "network";
    declare_values();
  }

  OnnxModel run(const OnnxPreprocessing& preprocessing) {
    const ValueId input = network_.inputs[0];
    values_[input] = preprocessed(model_, names_, preprocessing);
    for (const Node& node : network_.nodes) emit(node);
    raise();
    for (const auto& [name, value] : wanted_) give(name, value);
    return std::move(model_);
  }

 private:
  void declare_values() {
    const ValueId input = network_.inputs[0];
    const std::string name = names_.fresh(network_.vocabulary > 0 ? "tokens" : "input");
    model_.inputs = {described(network_, name, input)};
    wanted_ = {{names_.fresh("output"), network_.output}};
    for (const NamedOutput& output : network_.outputs) {
      wanted_.emplace_back(names_.fresh(output.name), output.value);
    }
    for (const auto& [wanted, value] : wanted_) {
      model_.outputs.push_back(described(network_, wanted, value));
      outputs_.emplace(value, wanted);
    }
  }

  void emit(const Node& node) {
    try {
      form_of(node).emit(OnnxLayer(context_, node));
    } catch (const Inexpressible& reason) {
      refused_.push_back((node.where.known() ? node.where.text() + ": " : "") + "layer '" +
                         node.path + "' (" + std::string(node.op->type()) + ") " + reason.what());
    }
  }

  void raise() const {
    if (refused_.empty()) return;
    std::string text = "ONNX (opset " + std::to_string(kOnnxOpset) + ") cannot express " +
                       count_text(std::ssize(refused_), "layer") + " of this network:";
    for (const std::string& line : refused_) text += "\n  " + line;
    throw Error(ErrorKind::config, text);
  }

  /// An output that no node has written: the network's input, or a value with two names.
  void give(const std::string& name, ValueId value) {
    if (values_[value] == name) return;
    model_.nodes.push_back({.type = "Identity",
                            .name = name,
                            .inputs = {values_[value]},
                            .outputs = {name},
                            .attributes = {}});
  }

  const Graph& network_;
  OnnxModel model_;
  OnnxNames names_;
  std::vector<std::string> values_;
  std::map<ValueId, std::string> outputs_;
  std::vector<std::pair<std::string, ValueId>> wanted_;
  std::vector<std::string> refused_;
  OnnxLayer::Context context_;
};

}  // namespace

OnnxModel onnx_model_of(const Graph& network, const NamedWeights& weights,
                        const OnnxPreprocessing& preprocessing) {
  return OnnxExport(network, weights).run(preprocessing);
}

}  // namespace trainyard
