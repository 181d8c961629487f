#include "ops/loss_sum.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

LossSumOp::LossSumOp(std::vector<double> weights) : count_(static_cast<int>(weights.size())) {
  TY_CHECK(!weights.empty() && weights.size() <= kMostLosses, "a sum of 1 to 8 losses");
  std::ranges::copy(weights, weights_);
}

Signature LossSumOp::infer(std::span<const Shape> inputs) const {
  TY_CHECK(std::ssize(inputs) == count_, "one weight for each loss");
  for (const Shape& losses : inputs) {
    if (losses == inputs[0]) continue;
    throw ShapeError("the losses of a network are all of samples, or all of positions: found " +
                     inputs[0].text() + " and " + losses.text() + " in a batch");
  }
  Signature signature;
  signature.outputs = {inputs[0]};
  return signature;
}

std::string LossSumOp::attributes() const {
  std::string text;
  for (int i = 0; i < count_; ++i) text += (i == 0 ? "" : ", ") + number_text(weights_[i]);
  return "{weights: [" + text + "]}";
}

}  // namespace trainyard
