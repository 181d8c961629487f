#include "ops/reshape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/expect.h"
#include "ops/window.h"

namespace trainyard {
namespace {

/// One or three extents of at least 1, of which one may be -1.
bool are_extents(const std::vector<std::int64_t>& extents) {
  if (extents.size() != 1 && extents.size() != 3) return false;
  const bool known =
      std::ranges::all_of(extents, [](std::int64_t extent) { return extent == -1 || extent > 0; });
  return known && std::ranges::count(extents, -1) <= 1;
}

std::unique_ptr<Op> read_reshape(config::Fields& fields) {
  std::vector<std::int64_t> extents;
  fields.rest("shape", extents, "[features] or [channels, height, width]; -1: what is left over",
              {.minimum = -1, .maximum = kMostChannels});
  if (!are_extents(extents)) {
    fields.error("shape",
                 "expected [features] or [channels, height, width], at most one of them "
                 "-1, the others at least 1");
    extents = {-1};
  }
  return std::make_unique<ReshapeOp>(std::move(extents));
}

}  // namespace

Signature ReshapeOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  const std::int64_t values = size_product({input.c(), input.h(), input.w()});
  std::vector<std::int64_t> extents = extents_;
  std::int64_t known = 1;
  for (const std::int64_t extent : extents) {
    if (extent > 0) known = size_product({known, extent});
  }
  const auto open = std::ranges::find(extents, -1);
  if (open != extents.end() && values % known == 0) {
    *open = values / known;
    known = values;
  }
  if (known != values) {
    throw ShapeError(fmt::format("cannot reshape {} values per sample of {} to [{}]", values,
                                 input.text(), fmt::join(extents_, ", ")));
  }
  Signature signature;
  signature.outputs = {extents.size() == 1 ? Shape{input.n(), extents[0]}
                                           : Shape{input.n(), extents[0], extents[1], extents[2]}};
  return signature;
}

std::string ReshapeOp::attributes() const {
  return fmt::format("{{shape: [{}]}}", fmt::join(extents_, ", "));
}

config::Kind<Op> reshape_kind() {
  return {"reshape", "the same values in another shape, row-major", &read_reshape};
}

}  // namespace trainyard
