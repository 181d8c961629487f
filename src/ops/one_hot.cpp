#include "ops/one_hot.h"

#include "ops/tokens.h"

namespace trainyard {

Signature OneHotOp::infer(std::span<const Shape> inputs) const {
  const Shape& tokens = inputs[0];
  require_tokens("one_hot", tokens);
  Signature signature;
  signature.outputs = {{tokens.n(), vocabulary_, 1, tokens.c()}};
  return signature;
}

std::string OneHotOp::attributes() const {
  return "{vocabulary: " + std::to_string(vocabulary_) + "}";
}

config::Kind<Op> one_hot_kind() {
  return {"one_hot", "each token as zeros with a 1 at its place",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            std::int64_t vocabulary = 1;
            declare_vocabulary(fields, vocabulary);
            return std::make_unique<OneHotOp>(vocabulary);
          }};
}

}  // namespace trainyard
