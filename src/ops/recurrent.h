// Recurrent layers: the steps of a sequence one after the other, with a state between them.
#pragma once

#include <string>

#include "ops/op_with.h"

namespace trainyard {

struct RecurrentAttributes {
  enum class Cell { lstm, gru, simple_rnn } cell = Cell::lstm;
  enum class Gates { hard_sigmoid, sigmoid } gates = Gates::hard_sigmoid;  // for an lstm and a gru
  enum class Activation { tanh, relu } activation = Activation::tanh;
  enum class Reset { after, before } reset = Reset::after;  // for a gru
  /// How both directions of a layer are joined; none: it has one.
  enum class Join { none, concat, add, average, multiply } bidirectional = Join::none;

  std::int64_t units = 0;
  bool return_sequences = false;  // the state after every step, else after the last
  Initializer init;
  Initializer recurrent_init;
  bool forget_bias = true;       // for an lstm: the bias of its forget gate starts at 1, not at 0
  double dropout = 0;            // fraction of zeros among the inputs of a gate, in [0, 1)
  double recurrent_dropout = 0;  // the same of the state
  bool backwards = false;        // from the last step to the first
  bool in_order = false;         // then put out states in the order of the input's steps
  bool mask = false;             // a second input: steps where it is 0 are left out
  double l2 = 0;                 // for the inputs' weights
  double recurrent_l2 = 0;       // for the state's weights
};

/// YAML names: lstm (Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000), gru
/// (Cho et al. 2014) and simple_rnn (Elman 1990), as Keras 2 computes them:
///
///   lstm        i, f, o = gates(W x + R h + b), g = activation(W x + R h + b)
///               cell = f * cell + i * g, h = o * activation(cell)
///   gru         r, z = gates(W x + R h + b), h = z * h + (1 - z) * new, where new is with reset
///     before      activation(W x + R (r * h) + b)
///     after       activation(W x + b + r * (R h + c)), and c is added to the sums of r and z too
///   simple_rnn  h = activation(W x + R h + b)
///
/// x is a step of the input, h the state after the step before; both states begin at 0. Input: a
/// sequence [n, c, 1, t]. Output: [n, units], the state after the last step, or with
/// return_sequences [n, units, 1, t], in the order in which steps are computed, or of the input
/// with in_order. With a mask, i32 [n, t] is a second input, and a step where it is 0 leaves both
/// states as they are and puts out the state before it, as Keras's mask_zero.
///
/// Parameters: weight [gates * units, c], recurrent [gates * units, units], bias [gates * units],
/// with the gates of an lstm in Keras's order i, f, g, o (Keras's own letters: i, f, c, o), which
/// is PyTorch's too. Row g * units + u holds what unit u of gate g reads, so each matrix is the
/// transpose of Keras's kernel [c, 4 * units] or recurrent_kernel; PyTorch's weight_ih_l0 and
/// weight_hh_l0 are the same matrices, and its two biases are added. The gates of a gru are in
/// PyTorch's order r, z, new (Keras: z, r, h); with reset after, c is a fourth parameter,
/// recurrent_bias [3 * units], PyTorch's bias_hh_l0 and row 1 of Keras's bias.
///
/// In training every gate reads inputs and state with zeros of its own, drawn once a sequence (Gal
/// and Ghahramani 2016, as Keras's implementation 1): the draws are keyed as those of DropoutMask,
/// positions counting gate by gate the channels, then gate by gate the units.
class RecurrentOp final : public OpWith<RecurrentAttributes> {
 public:
  using Cell = RecurrentAttributes::Cell;

  using OpWith::OpWith;
  [[nodiscard]] std::int64_t gates() const {
    return values().cell == Cell::lstm ? 4 : values().cell == Cell::gru ? 3 : 1;
  }
  /// A gru whose reset gate works on the state that the product of its new values reads, or on what
  /// it puts out.
  [[nodiscard]] bool resets(RecurrentAttributes::Reset when) const {
    return values().cell == Cell::gru && values().reset == when;
  }
  /// What its gates read of inputs and states: one copy for all, or one for each, which have zeros
  /// of their own, or of which the last has a state of its own.
  [[nodiscard]] std::int64_t copies(bool training) const;

  [[nodiscard]] std::string_view type() const override;
  [[nodiscard]] int arity() const override { return values().mask ? 2 : 1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] OpPtr with_mask() const override;
  [[nodiscard]] TwoWays two_ways() const override;
  [[nodiscard]] std::string attributes() const override;
};

[[nodiscard]] std::span<const config::Kind<Op>> recurrent_kinds();

}  // namespace trainyard
