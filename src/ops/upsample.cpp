#include "ops/upsample.h"

#include <fmt/format.h>

#include <array>

#include "ops/expect.h"

namespace trainyard {
namespace {

using Mode = UpsampleAttributes::Mode;

}  // namespace

Signature UpsampleOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  Signature signature;
  signature.outputs = {{input.n(), input.c(), size_product({input.h(), attributes_.size.h}),
                        size_product({input.w(), attributes_.size.w})}};
  return signature;
}

std::string UpsampleOp::attributes() const {
  return fmt::format("{{size: {}, mode: {}}}", text_of(attributes_.size),
                     config::word_of(attributes_.mode));
}

void declare(config::Fields& fields, UpsampleAttributes& upsample) {
  fields.field("size", upsample.size, "factor of the map's size; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  fields.field("mode", upsample.mode, "nearest or bilinear");
}

config::Kind<Op> upsample_kind() {
  return {"upsample", "larger maps by whole factors",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            UpsampleAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<UpsampleOp>(attributes);
          }};
}

}  // namespace trainyard
