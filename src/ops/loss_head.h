// What the backward step of a graph's loss computes besides the gradient.
#pragma once

namespace trainyard {

class TopKOp;

/// In one launch, in place of steps of their own.
struct LossHead {
  bool losses = false;  // the loss of each row: the step's outputs[0]
  /// Its result for each row is outputs[1], of labels that follow the loss's own inputs; null:
  /// none.
  const TopKOp* accuracy = nullptr;
  /// The values lack the bias of the layer that writes them, parameters[0]: it is added to them
  /// first.
  bool adds_bias = false;
};

}  // namespace trainyard
