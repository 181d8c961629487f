#include "ops/joins.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/expect.h"

namespace trainyard {

Signature JoinOp::infer(std::span<const Shape> inputs) const {
  if (inputs.size() < 2) {
    throw ShapeError(
        fmt::format("{} needs at least two branches, found {}", type(), inputs.size()));
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i] == inputs[0]) continue;
    throw ShapeError(fmt::format("branches differ: {} from branch 0, {} from branch {}",
                                 inputs[0].text(), inputs[i].text(), i));
  }
  return {.outputs = {inputs[0]}};
}

Contract AddOp::contract() const {
  Contract contract;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  contract.alias_gradient = !values().relu;
  contract.shared_gradient = true;
  contract.can.set(Can::write_slices, values().relu);
  contract.backward_reads_outputs = values().relu;
  contract.keeps_steps = true;
  return contract;
}

OpPtr AddOp::with_relu() const {
  if (values().relu) return nullptr;
  return std::make_unique<AddOp>(AddAttributes{.relu = true});
}

std::string AddOp::attributes() const { return values().relu ? "{relu: true}" : "{}"; }

namespace {

bool fit(const Shape& a, const Shape& b) { return a.with(1, 1) == b.with(1, 1); }

}  // namespace

Signature ConcatOp::infer(std::span<const Shape> inputs) const {
  const Shape& first = inputs[0];
  require_features_or_images(first);
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].rank() != first.rank() || !fit(inputs[i], first)) {
      throw ShapeError(
          fmt::format("branches differ beyond channels: {} from branch 0, {} from "
                      "branch {}",
                      first.text(), inputs[i].text(), i));
    }
    channels += inputs[i].c();
  }
  return {.outputs = {first.with(1, channels)}};
}

Contract ConcatOp::contract() const {
  return {.keeps_steps = true, .layouts = Contract::Layouts::same};
}

namespace {

/// True for [n, c, 1, 1] and [n, c] next to another [n, c, h, w].
bool scales(const Shape& factors, const Shape& map) {
  const bool one_pixel = factors.h() == 1 && factors.w() == 1;
  return map.rank() == 4 && factors != map && one_pixel && factors.n() == map.n() &&
         factors.c() == map.c();
}

}  // namespace

Signature MultiplyOp::infer(std::span<const Shape> inputs) const {
  for (const Shape& map : inputs) {
    if (std::ranges::none_of(inputs, [&](const Shape& shape) { return scales(shape, map); })) {
      continue;
    }
    if (inputs.size() > 2) {
      throw ShapeError(
          fmt::format("a map and the factors of its channels, [c, 1, 1] or [c], are multiplied two "
                      "at a time, found {} branches",
                      inputs.size()));
    }
    Signature signature;
    signature.outputs = {map};
    return signature;
  }
  return JoinOp::infer(inputs);
}

Contract MultiplyOp::contract() const {
  return {.backward_reads_inputs = true, .keeps_steps = true};
}

Contract AverageOp::contract() const {
  return {.in_place_forward = true,
          .in_place_backward = true,
          .shared_gradient = true,
          .keeps_steps = true};
}

Contract MaximumOp::contract() const {
  return {.backward_reads_inputs = true, .keeps_steps = true};
}

Contract MinimumOp::contract() const {
  return {.backward_reads_inputs = true, .keeps_steps = true};
}

std::span<const config::Kind<Op>> join_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"add", "sum of branches of one shape", &read_plain_op<AddOp>},
      {"concat", "concatenation of branches along channels", &read_plain_op<ConcatOp>},
      {"multiply",
       "product of branches of one shape, or of a map and factors [c, 1, 1] or [c] of its "
       "channels",
       &read_plain_op<MultiplyOp>},
      {"average", "mean of branches of one shape", &read_plain_op<AverageOp>},
      {"maximum", "largest value of branches of one shape", &read_plain_op<MaximumOp>},
      {"minimum", "smallest value of branches of one shape", &read_plain_op<MinimumOp>},
  };
  return kinds;
}

}  // namespace trainyard
