#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "export/onnx_layer.h"
#include "ops/recurrent.h"

namespace trainyard {
namespace {

using Dims = OnnxLayer::Dims;
using Floats = OnnxLayer::Floats;
using Attributes = RecurrentAttributes;

/// Our gates in ONNX's order: of an lstm i, f, g, o as i, o, f, c, of a gru r, z, n as z, r, h.
std::vector<std::size_t> gate_order(Attributes::Cell cell) {
  if (cell == Attributes::Cell::lstm) return {0, 3, 1, 2};
  if (cell == Attributes::Cell::gru) return {1, 0, 2};
  return {0};
}

/// Blocks of rows, one a gate, in ONNX's order.
Floats reordered(const Floats& values, Attributes::Cell cell) {
  const std::vector<std::size_t> order = gate_order(cell);
  const std::size_t block = values.size() / order.size();
  Floats ordered;
  ordered.reserve(values.size());
  for (const std::size_t gate : order) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(gate * block);
    ordered.insert(ordered.end(), first, first + static_cast<std::ptrdiff_t>(block));
  }
  return ordered;
}

/// Both biases in one; without a second one 0.
Floats biases(const OnnxLayer& layer, Attributes::Cell cell, bool two) {
  Floats bias = reordered(*layer.weight("bias"), cell);
  if (!two) {
    bias.resize(2 * bias.size());
    return bias;
  }
  const Floats second = reordered(*layer.weight("recurrent_bias"), cell);
  bias.insert(bias.end(), second.begin(), second.end());
  return bias;
}

/// The functions of the gates, of the new values and of an lstm's cell; of a simple_rnn the one it
/// has.
OnnxAttributes attributes_of(const Attributes& recurrent) {
  const std::string value = recurrent.activation == Attributes::Activation::relu ? "Relu" : "Tanh";
  OnnxAttributes attributes = {
      {"hidden_size", recurrent.units},
      {"direction", std::string(recurrent.backwards ? "reverse" : "forward")}};
  if (recurrent.cell == Attributes::Cell::simple_rnn) {
    attributes.emplace_back("activations", std::vector<std::string>{value});
    return attributes;
  }
  const bool hard = recurrent.gates == Attributes::Gates::hard_sigmoid;
  std::vector<std::string> activations = {hard ? "HardSigmoid" : "Sigmoid", value};
  if (recurrent.cell == Attributes::Cell::lstm) {
    activations.push_back(value);
  } else {
    attributes.emplace_back("linear_before_reset",
                            std::int64_t{recurrent.reset == Attributes::Reset::after});
  }
  attributes.emplace_back("activations", std::move(activations));
  if (hard) {
    attributes.emplace_back("activation_alpha", Floats{0.2F});
    attributes.emplace_back("activation_beta", Floats{0.5F});
  }
  return attributes;
}

/// [n, c, 1, t] as ONNX's [t, n, c].
std::string steps_first(const OnnxLayer& layer) {
  const std::string columns = layer.add("Squeeze", {layer.input(), layer.integers("one_row", {2})});
  return layer.add("Transpose", {columns}, {{"perm", Dims{2, 0, 1}}});
}

/// ONNX puts out a reverse layer's states in the order of its input.
std::string in_order_of_computation(const OnnxLayer& layer, const std::string& states) {
  const std::string first = layer.integers("last_step", {-1});
  const std::string end = layer.integers("before_all", {std::numeric_limits<std::int64_t>::min()});
  return layer.add(
      "Slice", {states, first, end, layer.integers("steps", {0}), layer.integers("back", {-1})});
}

/// [t, 1, n, units] to [n, units, 1, t].
void put_states(const OnnxLayer& layer, std::string states, bool backwards) {
  if (backwards) states = in_order_of_computation(layer, states);
  layer.put("Transpose", {states}, {{"perm", Dims{2, 3, 1, 0}}});
}

}  // namespace

void emit_recurrent(const OnnxLayer& layer) {
  const auto& op = layer.op<RecurrentOp>();
  const Attributes& recurrent = op.values();
  if (recurrent.mask) {
    throw Inexpressible(
        "leaves out steps by a mask, and ONNX's recurrent layers compute every step");
  }
  const std::int64_t units = recurrent.units, width = op.gates() * units;
  const OnnxLayer::Inputs inputs = {
      steps_first(layer),
      layer.constant("weight", {1, width, layer.input_shape().c()},
                     reordered(*layer.weight("weight"), recurrent.cell)),
      layer.constant("recurrent", {1, width, units},
                     reordered(*layer.weight("recurrent"), recurrent.cell)),
      layer.constant("bias", {1, 2 * width},
                     biases(layer, recurrent.cell, op.resets(Attributes::Reset::after)))};
  const std::string type = recurrent.cell == Attributes::Cell::lstm  ? "LSTM"
                           : recurrent.cell == Attributes::Cell::gru ? "GRU"
                                                                     : "RNN";
  if (recurrent.return_sequences) {
    return put_states(layer, layer.add(type, inputs, attributes_of(recurrent)),
                      recurrent.backwards && !recurrent.in_order);
  }
  const std::string last = layer.add(type, inputs, attributes_of(recurrent), 1);
  layer.put("Squeeze", {last, layer.integers("one_direction", {0})});
}

}  // namespace trainyard
