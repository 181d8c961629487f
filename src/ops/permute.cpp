#include "ops/permute.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ops/expect.h"

namespace trainyard {
namespace {

constexpr std::string_view kAxisNames = "chw";

/// The order that "c", "h" and "w" name, each once.
std::optional<AxisOrder> order_of(const std::vector<std::string>& axes) {
  if (axes.size() != 3) return std::nullopt;
  AxisOrder order{};
  std::array<bool, 3> found{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t axis = axes[i].size() == 1 ? kAxisNames.find(axes[i][0]) : 3;
    if (axis >= 3 || found[axis]) return std::nullopt;
    found[axis] = true;
    order[i] = static_cast<int>(axis);
  }
  return order;
}

std::unique_ptr<Op> read_permute(config::Fields& fields) {
  std::vector<std::string> axes{"c", "h", "w"};
  fields.rest("axes", axes, "the input's axes in the order of the output: c, h and w, each once");
  const std::optional<AxisOrder> order = order_of(axes);
  if (!order || !fields.given("axes")) {
    fields.error("axes", "expected c, h and w in some order, each once: permute: [h, w, c]");
  }
  return std::make_unique<PermuteOp>(order.value_or(AxisOrder{0, 1, 2}));
}

}  // namespace

AxisOrder PermuteOp::inverse() const {
  AxisOrder inverse{};
  for (int i = 0; i < 3; ++i) inverse[static_cast<std::size_t>(order_[i])] = i;
  return inverse;
}

Signature PermuteOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  Signature signature;
  signature.outputs = {
      {input.n(), input[1 + order_[0]], input[1 + order_[1]], input[1 + order_[2]]}};
  return signature;
}

std::string PermuteOp::attributes() const {
  return fmt::format("{{axes: [{}, {}, {}]}}", kAxisNames[order_[0]], kAxisNames[order_[1]],
                     kAxisNames[order_[2]]);
}

config::Kind<Op> permute_kind() {
  return {"permute", "channels, height and width in another order", &read_permute};
}

}  // namespace trainyard
