#include "ops/same_shapes.h"

#include <fmt/format.h>

namespace trainyard {

Signature infer_same_shapes(std::string_view op, std::span<const Shape> inputs) {
  if (inputs.size() < 2) {
    throw ShapeError(fmt::format("{} needs at least two branches, found {}", op, inputs.size()));
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i] == inputs[0]) continue;
    throw ShapeError(fmt::format("branches differ: {} from branch 0, {} from branch {}",
                                 inputs[0].text(), inputs[i].text(), i));
  }
  Signature signature;
  signature.outputs = {inputs[0]};
  return signature;
}

}  // namespace trainyard
