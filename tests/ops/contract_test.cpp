// What ops say of their memory, their parameters' first values and their gradients, and losses of
// their keys.
#include <doctest/doctest.h>

#include <span>

#include "op_text.h"
#include "ops/bn.h"
#include "ops/loss.h"

namespace trainyard {
namespace {

Signature inferred(const std::string& yaml, const Shape& input) {
  return test::op_from(yaml)->infer(std::span(&input, 1));
}

TEST_CASE("losses of a sum are all of as many rows, and smoothing is below 1") {
  const auto sum = [](const Shape& second) {
    const std::vector<Shape> shapes{{8}, second};
    return LossSumOp({1, 1}).infer(shapes).outputs[0];
  };
  CHECK(sum({8}) == Shape{8});
  CHECK_THROWS_WITH_AS(static_cast<void>(sum({16})),
                       "the losses of a network are all of samples, or all of positions: found [8] "
                       "and [16] in a batch",
                       ShapeError);
  for (const bool error : {false, true}) {
    const config::Node node =
        config::parse_yaml(error ? "label_smoothing: 1" : "label_smoothing: 0.75", "test.yaml");
    config::Diagnostics diagnostics;
    config::Fields fields(node, nullptr, "cross_entropy", config::Profile::keras2, diagnostics);
    CHECK(loss_kinds()[0].read(fields)->values().label_smoothing == (error ? 0 : 0.75));
    CHECK(diagnostics.empty() == !error);
  }
}

TEST_CASE("factors of channels start as ones, or with the value of gamma") {
  const auto gamma = [](const char* yaml) {
    return inferred(yaml, {4, 6, 5, 5}).parameters[0].initializer;
  };
  CHECK(gamma("bn").kind == Initializer::Kind::ones);
  CHECK(gamma("{bn: {gamma: 0.5}}").kind == Initializer::Kind::constant);
  CHECK(gamma("{bn: {gamma: 0.5}}").value == 0.5);
  CHECK(BnOp({.residual = true}).contract().in_place_gradient == 1);
  CHECK(BnOp(BnAttributes{}).contract().in_place_gradient == 0);
}

TEST_CASE("memory of norms counts whole blocks of 16 channels") {
  CHECK(inferred("lrn", {2, 20, 3, 5}).workspace_bytes == 2 * 32 * 15 * 8);
  const Signature norm = inferred("{group_norm: 2}", {2, 20, 13, 11});
  CHECK(norm.saved_bytes == 2 * 20 * 2 * 8);                          // means and factors
  CHECK(norm.workspace_bytes == 3 * 2 * 32 * 16 + norm.saved_bytes);  // 1 + 2 chunks of pairs
}

TEST_CASE("a pool saves the positions of its maxima, and nothing of means") {
  CHECK(inferred("{max_pool: 2}", {2, 3, 4, 6}).saved_bytes == 2 * 3 * 2 * 3 * 4);
  CHECK(inferred("{avg_pool: 2}", {2, 3, 4, 6}).saved_bytes == 0);
}

TEST_CASE("slices of channels alone keep the steps of a sequence") {
  const auto keeps = [](const char* yaml) { return test::op_from(yaml)->contract().keeps_steps; };
  CHECK(keeps("{slice: 1}"));
  CHECK_FALSE(keeps("{slice: {begin: 1, axis: width}}"));
  CHECK_FALSE(keeps("{pad: {back: 1}}"));
}

}  // namespace
}  // namespace trainyard
