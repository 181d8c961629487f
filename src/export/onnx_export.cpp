#include "export/onnx_export.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

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
    throw config_error(text);
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

using Floats = std::vector<float>;

/// y = factor * x + offset, for each channel.
struct ChannelMap {
  std::vector<double> factor, offset;
};

class Folding {
 public:
  explicit Folding(OnnxModel& model) : model_(model) {
    for (const OnnxNode& node : model.nodes) {
      for (const std::string& input : node.inputs) ++readers_[input];
    }
    for (const OnnxValue& output : model.outputs) ++readers_[output.name];
  }

  int run() {
    std::set<std::string> folded;  // outputs of nodes that go
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const OnnxNode& bn = model_.nodes[i];
      const auto product = products_.find(bn.inputs.empty() ? "" : bn.inputs[0]);
      if (bn.type == "BatchNormalization" && product != products_.end() &&
          readers_[bn.inputs[0]] == 1) {
        fold(model_.nodes[product->second], channel_map(bn));
        model_.nodes[product->second].outputs = bn.outputs;
        folded.insert(bn.name);
      } else if (is_product(bn)) {
        products_[bn.outputs[0]] = i;
      }
    }
    std::erase_if(model_.nodes, [&](const OnnxNode& node) {
      return node.type == "BatchNormalization" && folded.contains(node.name);
    });
    drop_unread();
    return static_cast<int>(folded.size());
  }

 private:
  static bool is_product(const OnnxNode& node) {
    return node.type == "Conv" || node.type == "ConvTranspose" || node.type == "Gemm";
  }
  [[nodiscard]] const Floats& floats(const std::string& name) const {
    return std::get<Floats>(model_.constants.at(name).values);
  }

  [[nodiscard]] ChannelMap channel_map(const OnnxNode& bn) const {
    const Floats &gamma = floats(bn.inputs[1]), &beta = floats(bn.inputs[2]);
    const Floats &mean = floats(bn.inputs[3]), &variance = floats(bn.inputs[4]);
    const double eps = std::get<float>(bn.attributes.at(0).second);
    ChannelMap map;
    for (std::size_t c = 0; c < gamma.size(); ++c) {
      map.factor.push_back(gamma[c] / std::sqrt(variance[c] + eps));
      map.offset.push_back(beta[c] - mean[c] * map.factor[c]);
    }
    return map;
  }

  /// The output channel of each element of the weights: ConvTranspose has them [inputs, outputs /
  /// groups, ...], the others [outputs, ...].
  [[nodiscard]] static std::size_t channel_of(const OnnxNode& product, const OnnxTensor& weight,
                                              std::size_t channels, std::size_t element,
                                              std::size_t elements) {
    if (product.type != "ConvTranspose") return element / (elements / channels);
    const auto inputs = static_cast<std::size_t>(weight.dims[0]);
    const auto outputs = static_cast<std::size_t>(weight.dims[1]);  // outputs of a group
    const std::size_t row = element / (elements / inputs);
    const std::size_t column = element / (elements / inputs / outputs) % outputs;
    const std::size_t groups = channels / outputs;
    return row / (inputs / groups) * outputs + column;
  }

  void fold(OnnxNode& product, const ChannelMap& map) {
    const std::size_t channels = map.factor.size();
    OnnxTensor weight = model_.constants.at(product.inputs[1]);
    Floats& values = std::get<Floats>(weight.values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t c = channel_of(product, weight, channels, i, values.size());
      values[i] = static_cast<float>(values[i] * map.factor[c]);
    }
    Floats bias = product.inputs.size() > 2 ? floats(product.inputs[2]) : Floats(channels, 0);
    for (std::size_t c = 0; c < channels; ++c) {
      bias[c] = static_cast<float>(bias[c] * map.factor[c] + map.offset[c]);
    }
    // Under the layer's own name: other layers may share the old ones.
    const std::string of_weight = product.name + ".folded_weight";
    const std::string of_bias = product.name + ".folded_bias";
    model_.constants[of_weight] = std::move(weight);
    model_.constants[of_bias] = {{static_cast<std::int64_t>(channels)}, std::move(bias)};
    product.inputs = {product.inputs[0], of_weight, of_bias};
  }

  void drop_unread() {
    std::set<std::string> read;
    for (const OnnxNode& node : model_.nodes) read.insert(node.inputs.begin(), node.inputs.end());
    std::erase_if(model_.constants, [&](const auto& entry) { return !read.contains(entry.first); });
  }

  OnnxModel& model_;
  std::map<std::string, int> readers_;
  std::map<std::string, std::size_t> products_;  // the node of each output
};

}  // namespace

OnnxModel onnx_model_of(const Graph& network, const NamedWeights& weights,
                        const OnnxPreprocessing& preprocessing) {
  return OnnxExport(network, weights).run(preprocessing);
}

int fold_batch_norms(OnnxModel& model) { return Folding(model).run(); }

}  // namespace trainyard
