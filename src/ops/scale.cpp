#include "ops/scale.h"

namespace trainyard {

std::vector<ParameterSpec> ScaleOp::parameters(std::int64_t channels) const {
  return affine_parameters(channels, true, attributes_.center);
}

std::string ScaleOp::attributes() const {
  return attributes_.center ? "{center: true}" : "{center: false}";
}

void declare(config::Fields& fields, ScaleAttributes& scale) {
  fields.field("center", scale.center, "learn an offset per channel (beta)");
}

config::Kind<Op> scale_kind() {
  return {"scale", "a learned factor and offset per channel",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            ScaleAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<ScaleOp>(attributes);
          }};
}

}  // namespace trainyard
