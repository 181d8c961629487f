#include "ops/tokens.h"

#include <fmt/format.h>

#include "ops/op.h"
#include "ops/window.h"

namespace trainyard {

void require_tokens(std::string_view op, const Shape& shape) {
  if (shape.rank() == 2) return;
  throw ShapeError(fmt::format("{} needs tokens [n, t], found {}", op, shape.text()));
}

void declare_vocabulary(config::Fields& fields, std::int64_t& vocabulary) {
  fields.field("vocabulary", vocabulary, "number of tokens; default: that of the network's input",
               {.minimum = 1, .maximum = kMostChannels});
}

}  // namespace trainyard
