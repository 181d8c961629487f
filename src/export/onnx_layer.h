// One layer on its way into an ONNX model, and how ONNX expresses each op, in evaluation.
//
// To add an op: a line in the list of onnx_forms.cpp, with its function if that is more than a
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"
#include "export/named_weights.h"
#include "export/onnx_model.h"
#include "graph/graph.h"

namespace trainyard {

/// The reason why ONNX cannot express a layer.
struct Inexpressible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Names of a model's values, all different.
class OnnxNames {
 public:
  /// `wished`, or with a number behind it if that is taken.
  [[nodiscard]] std::string fresh(const std::string& wished);

 private:
  std::set<std::string> taken_;
};

/// What the functions of onnx_forms() see of a layer, and how they add nodes for it. Values have
/// the shapes that they have here: features [n, c], maps [n, c, h, w], sequences [n, c, 1, t],
/// tokens [n, t] as int64.
class OnnxLayer {
 public:
  /// The network and what has been made of it so far.
  struct Context {
    const Graph& network;
    const NamedWeights& weights;
    OnnxModel& model;
    OnnxNames& names;
    std::vector<std::string>& values;         // ONNX's names by ValueId; "": not made yet
    std::map<ValueId, std::string>& outputs;  // names that values must have
  };
  using Inputs = std::vector<std::string>;
  using Floats = std::vector<float>;
  using Dims = std::vector<std::int64_t>;

  OnnxLayer(const Context& context, const Node& node) : context_(context), node_(node) {}

  template <class T>
  [[nodiscard]] const T& op() const {
    return dynamic_cast<const T&>(*node_.op);
  }
  /// The op's attributes as a network file has them: Op::attributes().
  [[nodiscard]] config::Node attributes() const;
  [[nodiscard]] Shape input_shape(std::size_t index = 0) const;
  [[nodiscard]] Shape output_shape() const;
  [[nodiscard]] std::string input(std::size_t index = 0) const;
  [[nodiscard]] Inputs inputs() const;

  /// The parameter or running statistic of this name, or null if the layer has none.
  [[nodiscard]] const Floats* weight(std::string_view name) const;
  /// The same; `count` times `otherwise` if there is none.
  [[nodiscard]] Floats weight_or(std::string_view name, std::int64_t count, float otherwise) const;

  /// A constant of the model, which layers that share parameters share. `name` tells it from the
  /// layer's others.
  [[nodiscard]] std::string constant(const std::string& name, Dims dims, Floats values) const;
  [[nodiscard]] std::string integers(const std::string& name, Dims values) const;
  /// A parameter in these dims as a constant.
  [[nodiscard]] std::string parameter(std::string_view name, Dims dims) const;
  /// A value a channel in dims that broadcast over the input: [c], or [c, 1, 1] for maps.
  [[nodiscard]] std::string per_channel(const std::string& name, Floats values) const;

  /// Adds a node on the way to the result; returns the output of it that is read, by default the
  /// first.
  [[nodiscard]] std::string add(const std::string& type, Inputs inputs,
                                OnnxAttributes attributes = {}, std::size_t read = 0) const;
  /// Adds the node whose output is the layer's.
  void put(const std::string& type, Inputs inputs, OnnxAttributes attributes = {}) const;
  /// The same of the layer's own inputs.
  void apply(const std::string& type, OnnxAttributes attributes = {}) const;
  /// The layer's output is this value itself.
  void pass(const std::string& value) const;

 private:
  /// The path of the layer whose parameters this one reads.
  [[nodiscard]] const std::string& owner() const;

  const Context& context_;
  const Node& node_;
};

/// One op's form.
struct OnnxForm {
  std::string_view op;  // Op::type()
  /// Adds the nodes of a layer of this op. Throws Inexpressible with the reason if ONNX lacks what
  /// the layer's attributes ask for.
  void (*emit)(const OnnxLayer& layer);
};

/// One for each op that a network may name.
[[nodiscard]] std::span<const OnnxForm> onnx_forms();

// Layers with weights (onnx_weighted.cpp).
void emit_conv(const OnnxLayer& layer);
void emit_conv_transpose(const OnnxLayer& layer);
void emit_dense(const OnnxLayer& layer);
void emit_embedding(const OnnxLayer& layer);
void emit_one_hot(const OnnxLayer& layer);
void emit_recurrent(const OnnxLayer& layer);

// Normalisations (onnx_weighted.cpp too).
void emit_bn(const OnnxLayer& layer);
void emit_layer_norm(const OnnxLayer& layer);
void emit_group_norm(const OnnxLayer& layer);  // instance norm too
void emit_lrn(const OnnxLayer& layer);
void emit_scale(const OnnxLayer& layer);
void emit_prelu(const OnnxLayer& layer);

// Parts and shapes of maps (onnx_maps.cpp).
void emit_pool(const OnnxLayer& layer);
void emit_global_pool(const OnnxLayer& layer);
void emit_pool_steps(const OnnxLayer& layer);
void emit_upsample(const OnnxLayer& layer);
void emit_pad(const OnnxLayer& layer);
void emit_crop(const OnnxLayer& layer);
void emit_slice(const OnnxLayer& layer);
void emit_permute(const OnnxLayer& layer);
void emit_reshape(const OnnxLayer& layer);  // flatten too

}  // namespace trainyard
