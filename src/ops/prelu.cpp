#include "ops/prelu.h"

#include "base/text.h"

namespace trainyard {

std::vector<ParameterSpec> PreluOp::parameters(std::int64_t channels) const {
  // In the group of offsets: without weight decay, as in the paper.
  return {channel_parameter("alpha", channels,
                            {.kind = Initializer::Kind::constant, .value = attributes_.init},
                            ParameterGroup::beta)};
}

std::string PreluOp::attributes() const { return "{init: " + number_text(attributes_.init) + "}"; }

void declare(config::Fields& fields, PreluAttributes& prelu) {
  prelu.init = fields.profile() == config::Profile::keras2 ? 0 : 0.25;
  fields.field("init", prelu.init, "initial slope below 0 of every channel");
}

config::Kind<Op> prelu_kind() {
  return {"prelu", "x, or a learned slope per channel times x below 0",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            PreluAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<PreluOp>(attributes);
          }};
}

}  // namespace trainyard
