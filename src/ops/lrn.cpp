#include "ops/lrn.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/expect.h"

namespace trainyard {

Signature LrnOp::infer(std::span<const Shape> inputs) const {
  require_images(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.workspace_bytes = size_product({most_elements(inputs[0]), sizeof(double)});
  return signature;
}

Contract LrnOp::contract() const {
  Contract contract;
  contract.backward_reads_inputs = true;
  contract.in_place_backward = true;
  return contract;
}

std::string LrnOp::attributes() const {
  const LrnAttributes& lrn = attributes_;
  return fmt::format("{{size: {}, alpha: {}, beta: {}, k: {}, across: {}}}", lrn.size,
                     number_text(lrn.alpha), number_text(lrn.beta), number_text(lrn.k), lrn.across);
}

LrnWindow LrnOp::window_of(const Layout& layout) const {
  return {Places(layout), layout.extent[2], (attributes_.size - 1) / 2, attributes_.across};
}

double LrnOp::divided_alpha() const {
  const auto size = static_cast<double>(attributes_.size);
  return attributes_.alpha / (attributes_.across ? size : size * size);
}

void declare(config::Fields& fields, LrnAttributes& lrn) {
  if (fields.profile() == config::Profile::mxnet) lrn.k = 2;
  fields.field("size", lrn.size, "channels, or rows and columns, of the window; odd",
               {.minimum = 1, .maximum = 255});
  fields.field("alpha", lrn.alpha, "factor of the mean square in the window", {.minimum = 0});
  fields.field("beta", lrn.beta, "exponent", {.minimum = 0});
  fields.field("k", lrn.k, "added to the mean square", {.minimum = 0, .exclusive_minimum = true});
  fields.field("across", lrn.across,
               "the window is over channels; false: over the pixels of each channel");
  if (lrn.size % 2 == 0) {
    fields.error("size", fmt::format("'size' must be odd, found {}", lrn.size));
    ++lrn.size;
  }
}

config::Kind<Op> lrn_kind() {
  return {"lrn", "local response normalisation, as in Caffe",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            LrnAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<LrnOp>(attributes);
          }};
}

}  // namespace trainyard
