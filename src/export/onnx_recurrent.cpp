#include <array>
#include <limits>
#include <utility>

#include "export/onnx_forms.h"
#include "ops/recurrent.h"

namespace trainyard {
namespace {

using Dims = OnnxLayer::Dims;
using Floats = OnnxLayer::Floats;
using Attributes = RecurrentAttributes;

/// Our gates i, f, g, o in ONNX's order i, o, f, c; a single one as it is.
constexpr std::array<std::size_t, 4> kGateOrder = {0, 3, 1, 2};

/// `gates` blocks of rows in ONNX's order.
Floats reordered(const Floats& values, std::int64_t gates) {
  if (gates == 1) return values;
  const std::size_t block = values.size() / kGateOrder.size();
  Floats ordered;
  ordered.reserve(values.size());
  for (const std::size_t gate : kGateOrder) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(gate * block);
    ordered.insert(ordered.end(), first, first + static_cast<std::ptrdiff_t>(block));
  }
  return ordered;
}

/// The functions of the gates, of the new values and of the cell; of a simple_rnn the one it has.
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
  attributes.emplace_back("activations",
                          std::vector<std::string>{hard ? "HardSigmoid" : "Sigmoid", value, value});
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
  Floats bias = reordered(*layer.weight("bias"), op.gates());
  bias.resize(static_cast<std::size_t>(2 * width));  // ONNX's second one, which stays 0
  const OnnxLayer::Inputs inputs = {
      steps_first(layer),
      layer.constant("weight", {1, width, layer.input_shape().c()},
                     reordered(*layer.weight("weight"), op.gates())),
      layer.constant("recurrent", {1, width, units},
                     reordered(*layer.weight("recurrent"), op.gates())),
      layer.constant("bias", {1, 2 * width}, std::move(bias))};
  const std::string type = recurrent.cell == Attributes::Cell::lstm ? "LSTM" : "RNN";
  if (recurrent.return_sequences) {
    return put_states(layer, layer.add(type, inputs, attributes_of(recurrent)),
                      recurrent.backwards);
  }
  const std::string last = layer.add(type, inputs, attributes_of(recurrent), 1);
  layer.put("Squeeze", {last, layer.integers("one_direction", {0})});
}

}  // namespace trainyard
