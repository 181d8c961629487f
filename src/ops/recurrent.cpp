#include "ops/recurrent.h"

#include <fmt/format.h>

#include <utility>

#include "base/offset_allocator.h"
#include "base/text.h"
#include "ops/dropout.h"
#include "ops/expect.h"
#include "ops/initializers.h"
#include "ops/window.h"
#include "tensor/launch_limits.h"

namespace trainyard {
namespace {

using Cell = RecurrentAttributes::Cell;
using Gates = RecurrentAttributes::Gates;
using Reset = RecurrentAttributes::Reset;
using Join = RecurrentAttributes::Join;
using CellActivation = RecurrentAttributes::Activation;

/// Keras has its own defaults; the others start the state's weights as they start kernels.
void set_defaults(RecurrentAttributes& recurrent, config::Profile profile) {
  const bool keras = profile == config::Profile::keras2;
  recurrent.gates = keras ? Gates::hard_sigmoid : Gates::sigmoid;
  recurrent.forget_bias = keras;
  recurrent.reset = keras ? Reset::before : Reset::after;
  recurrent.init = default_kernel_initializer(profile);
  recurrent.recurrent_init =
      keras ? Initializer{.kind = Initializer::Kind::orthogonal} : recurrent.init;
}

/// Keys of the cells with gates.
void declare_gates(config::Fields& fields, RecurrentAttributes& recurrent) {
  if (recurrent.cell == Cell::simple_rnn) return;
  fields.field("gates", recurrent.gates,
               "function of the gates: hard_sigmoid (0.2 x + 0.5 cut to [0, 1]) or sigmoid");
  if (recurrent.cell == Cell::lstm) {
    fields.field("forget_bias", recurrent.forget_bias,
                 "start the forget gate's bias at 1 and not as the others");
  } else {
    fields.field("reset", recurrent.reset,
                 "the reset gate works on the state, before the product with its weights, or after "
                 "it, with a second bias (PyTorch, Keras's reset_after)");
  }
}

void declare_dropouts(config::Fields& fields, RecurrentAttributes& recurrent) {
  declare_rate(fields, "dropout", recurrent.dropout,
               "fraction of a gate's inputs set to zero in training, below 1");
  declare_rate(fields, "recurrent_dropout", recurrent.recurrent_dropout,
               "fraction of a gate's state set to zero in training, below 1");
}

void declare_directions(config::Fields& fields, RecurrentAttributes& recurrent) {
  fields.field("backwards", recurrent.backwards, "compute from the last step to the first");
  fields.field("mask", recurrent.mask,
               "read tokens or a mask as a second input, and leave out the steps where it is 0");
  fields.field("l2", recurrent.l2, "adds l2 * sum(w^2) of the inputs' weights to the loss",
               {.minimum = 0});
  fields.field("recurrent_l2", recurrent.recurrent_l2, "the same of the state's weights",
               {.minimum = 0});
  fields.field("in_order", recurrent.in_order,
               "put out the states of a backwards layer in the order of its input's steps, not in "
               "that in which they are computed");
  fields.field("bidirectional", recurrent.bidirectional,
               "two layers of these keys, of which one is backwards, and how their outputs are "
               "joined: concat, add, average or multiply");
  if (recurrent.bidirectional != Join::none && (recurrent.backwards || recurrent.in_order)) {
    fields.error("bidirectional",
                 "'bidirectional' computes both directions, in order; leave 'backwards' and "
                 "'in_order' out");
  } else if (recurrent.in_order && !(recurrent.backwards && recurrent.return_sequences)) {
    fields.error("in_order",
                 "'in_order' is of the states of all steps of a backwards layer; write 'backwards: "
                 "true' and 'return_sequences: true' too, or leave it out");
  }
}

void declare_recurrent(config::Fields& fields, RecurrentAttributes& recurrent) {
  set_defaults(recurrent, fields.profile());
  fields.required("units", recurrent.units, "width of the state",
                  {.minimum = 1, .maximum = kMostChannels});
  fields.field("return_sequences", recurrent.return_sequences,
               "put out the state after every step, not after the last alone");
  fields.field("activation", recurrent.activation,
               recurrent.cell == Cell::lstm
                   ? "function of the new values and the cell: tanh or relu"
               : recurrent.cell == Cell::gru ? "function of the new values: tanh or relu"
                                             : "function of the state: tanh or relu");
  declare_gates(fields, recurrent);
  declare_initializer(fields, "init", recurrent.init, "initializer of the inputs' weights");
  declare_initializer(fields, "recurrent_init", recurrent.recurrent_init,
                      "initializer of the state's weights");
  declare_dropouts(fields, recurrent);
  declare_directions(fields, recurrent);
}

template <Cell cell>
OpPtr read_recurrent(config::Fields& fields) {
  RecurrentAttributes attributes;
  attributes.cell = cell;
  declare_recurrent(fields, attributes);
  return std::make_unique<RecurrentOp>(attributes);
}

/// [gates * units, inputs]. The fans are those of Keras's kernel, but torch_default is PyTorch's
/// rule for recurrent layers: bound 1 / sqrt(units) for all weights.
ParameterSpec matrix(std::string name, const Initializer& init, double l2, std::int64_t rows,
                     std::int64_t inputs, std::int64_t units) {
  const bool torch = init.kind == Initializer::Kind::torch_default;
  return {.name = std::move(name),
          .shape = {rows, inputs},
          .initializer = init,
          .group = ParameterGroup::kernel,
          .l2 = l2,
          .fan_in = torch ? units : inputs,
          .fan_out = rows};
}

/// Bytes of `elements` on the widest device, with room for the alignment of `slots`.
std::int64_t most_bytes(std::int64_t elements, std::int64_t slots) {
  return size_product({elements, sizeof(double)}) +
         slots * static_cast<std::int64_t>(kSlotAlignment);
}

/// Upper bounds of compute/recurrent/recurrent_step.h's memory.
void add_memory(Signature& signature, const Shape& input, const RecurrentOp& op) {
  const std::int64_t units = op.values().units, width = op.gates() * units;
  const std::int64_t copies = op.copies(true);
  const std::int64_t n = input.n(), rows = n * input.w(), c = input.c();
  const std::int64_t factors = size_product({copies, rows, c + units});
  const std::int64_t states = size_product({rows + n, units});
  const std::int64_t masks = copies * n * (c + units), weights = width * (c + units);
  const bool after = op.resets(Reset::after);  // with a part of the new values' sums, and gradients
  const std::int64_t kept =
      factors + rows * width + states + masks + weights + rows + (after ? rows * units : 0);
  const std::int64_t own = (after ? 2 : 1) * rows * width + copies * rows * c +
                           (copies + 2) * n * units + column_partials(rows, width) + n * width;
  signature.saved_bytes = most_bytes(kept, 11);
  signature.workspace_bytes = signature.saved_bytes + most_bytes(own, 10);
}

}  // namespace

std::string_view RecurrentOp::type() const {
  return values().cell == Cell::lstm ? "lstm" : values().cell == Cell::gru ? "gru" : "simple_rnn";
}

std::int64_t RecurrentOp::copies(bool training) const {
  const bool drops = values().dropout > 0 || values().recurrent_dropout > 0;
  return (training && drops) || resets(Reset::before) ? gates() : 1;
}

Signature RecurrentOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_sequence(input);
  if (values().mask) require_mask(input, inputs[1]);
  const RecurrentAttributes& recurrent = values();
  const std::int64_t units = recurrent.units, width = gates() * units;
  require_counted_positions({1, gates() * (input.c() + units)});
  const ParameterSpec weight =
      matrix("weight", recurrent.init, recurrent.l2, width, input.c(), units);
  ParameterSpec bias = bias_for(weight, width);
  if (recurrent.cell == Cell::lstm && recurrent.forget_bias) {
    bias.initializer.kind = Initializer::Kind::forget_gate;
  }
  Signature signature;
  signature.outputs = {recurrent.return_sequences ? Shape{input.n(), units, 1, input.w()}
                                                  : Shape{input.n(), units}};
  signature.parameters = {
      weight,
      matrix("recurrent", recurrent.recurrent_init, recurrent.recurrent_l2, width, units, units),
      bias};
  if (resets(Reset::after)) {
    bias.name = "recurrent_bias";
    signature.parameters.push_back(bias);
  }
  signature.multiply_adds = size_product({input.n(), input.w(), width, input.c() + units});
  add_memory(signature, input, *this);
  return signature;
}

Contract RecurrentOp::contract() const {
  return {.synced_backward = true,
          .draws = values().dropout > 0 || values().recurrent_dropout > 0,
          .masked = values().mask,
          .keeps_steps = values().return_sequences && (!values().backwards || values().in_order),
          .layouts = Contract::Layouts::rows};
}

OpPtr RecurrentOp::with_mask() const {
  RecurrentAttributes masked = values();
  masked.mask = true;
  return std::make_unique<RecurrentOp>(masked);
}

TwoWays RecurrentOp::two_ways() const {
  if (values().bidirectional == Join::none) return {};
  RecurrentAttributes one = values();
  one.bidirectional = Join::none;
  RecurrentAttributes other = one;
  other.backwards = true;
  other.in_order = one.return_sequences;
  return {std::make_unique<RecurrentOp>(one), std::make_unique<RecurrentOp>(other),
          config::word_of(values().bidirectional)};
}

std::string RecurrentOp::attributes() const {
  const RecurrentAttributes& recurrent = values();
  std::string of_gates;
  if (gates() > 1) of_gates = fmt::format("gates: {}, ", config::word_of(recurrent.gates));
  if (recurrent.cell == Cell::lstm) {
    of_gates += fmt::format("forget_bias: {}, ", recurrent.forget_bias);
  }
  if (recurrent.cell == Cell::gru) {
    of_gates += fmt::format("reset: {}, ", config::word_of(recurrent.reset));
  }
  std::string rest;
  if (recurrent.l2 != 0 || recurrent.recurrent_l2 != 0) {
    rest = fmt::format(", l2: {}, recurrent_l2: {}", number_text(recurrent.l2),
                       number_text(recurrent.recurrent_l2));
  }
  if (recurrent.in_order) rest += ", in_order: true";
  if (recurrent.bidirectional != Join::none) {
    rest += fmt::format(", bidirectional: {}", config::word_of(recurrent.bidirectional));
  }
  return fmt::format(
      "{{units: {}, return_sequences: {}, activation: {}, {}init: {}, recurrent_init: {}, dropout: "
      "{}, recurrent_dropout: {}, backwards: {}, mask: {}{}}}",
      recurrent.units, recurrent.return_sequences, config::word_of(recurrent.activation), of_gates,
      text_of(recurrent.init), text_of(recurrent.recurrent_init), number_text(recurrent.dropout),
      number_text(recurrent.recurrent_dropout), recurrent.backwards, recurrent.mask, rest);
}

constexpr config::Words<Gates> words(Gates) { return {"hard_sigmoid", "sigmoid"}; }

constexpr config::Words<Reset> words(Reset) { return {"after", "before"}; }

constexpr config::Words<Join> words(Join) {
  return {"none", "concat", "add", "average", "multiply"};
}

constexpr config::Words<CellActivation> words(CellActivation) { return {"tanh", "relu"}; }

std::span<const config::Kind<Op>> recurrent_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"lstm", "long short-term memory over the steps of a sequence", &read_recurrent<Cell::lstm>},
      {"gru", "a gated recurrent unit over the steps of a sequence", &read_recurrent<Cell::gru>},
      {"simple_rnn", "a state that reads itself and each step of a sequence",
       &read_recurrent<Cell::simple_rnn>},
  };
  return kinds;
}

}  // namespace trainyard
