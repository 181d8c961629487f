// Recurrent layers: shapes, parameters, defaults of profiles, messages, masks. Values and gradients
// are cases of recurrent.yaml and of tests/golden.
#include "ops/recurrent.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compute/recurrent/cell.h"
#include "config/fields.h"
#include "config/load.h"
#include "launcher/launch.h"
#include "op_text.h"
#include "ops/initializers.h"
#include "ops/loss.h"

namespace trainyard {
namespace {

std::string message_of(const std::string& yaml) {
  try {
    static_cast<void>(test::op_from(yaml));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

Signature signature_of(const std::string& yaml, const Shape& input,
                       config::Profile profile = config::Profile::keras2) {
  return test::op_from(yaml, profile)->infer(std::span(&input, 1));
}

std::vector<float> initial(const ParameterSpec& spec) {
  std::vector<float> values(static_cast<std::size_t>(spec.shape.elements()));
  initialize(spec, 1, 2, values);
  return values;
}

}  // namespace

TEST_CASE("an lstm has one matrix of all gates for its inputs, one for its state, and a bias") {
  const Signature last = signature_of("{lstm: 128}", {32, 100, 1, 80});
  CHECK(last.outputs[0] == Shape{32, 128});
  REQUIRE(last.parameters.size() == 3);
  CHECK(last.parameters[0].name == "weight");
  CHECK(last.parameters[0].shape == Shape{512, 100});
  CHECK(last.parameters[0].fan_in == 100);
  CHECK(last.parameters[0].fan_out == 512);
  CHECK(last.parameters[1].name == "recurrent");
  CHECK(last.parameters[1].shape == Shape{512, 128});
  CHECK(last.parameters[2].name == "bias");
  CHECK(last.parameters[2].shape == Shape{512});
  CHECK(last.multiply_adds == 32 * 80 * 512 * (100 + 128));
  CHECK(signature_of("{lstm: [128, true]}", {32, 100, 1, 80}).outputs[0] == Shape{32, 128, 1, 80});
}

TEST_CASE("the penalties of a recurrent layer are of its inputs' and of its state's weights") {
  const Signature plain = signature_of("{lstm: 5}", {2, 3, 1, 4});
  CHECK(plain.parameters[0].l2 == 0);
  const Signature layer =
      signature_of("{lstm: {units: 5, l2: 0.5, recurrent_l2: 0.25}}", {2, 3, 1, 4});
  CHECK(layer.parameters[0].l2 == 0.5);
  CHECK(layer.parameters[1].l2 == 0.25);
  CHECK(layer.parameters[2].l2 == 0);
  CHECK(test::op_from("{lstm: 5}")->attributes().find("l2") == std::string::npos);
  CHECK(test::op_from("{simple_rnn: {units: 5, l2: 0.5}}")
            ->attributes()
            .ends_with("mask: false, l2: 0.5, recurrent_l2: 0}"));
}

TEST_CASE("a simple_rnn has one gate") {
  const Signature signature = signature_of("{simple_rnn: 6}", {3, 4, 1, 5});
  CHECK(signature.outputs[0] == Shape{3, 6});
  CHECK(signature.parameters[0].shape == Shape{6, 4});
  CHECK(signature.parameters[1].shape == Shape{6, 6});
  CHECK(signature.parameters[2].shape == Shape{6});
  CHECK(initial(signature.parameters[2]) == std::vector<float>(6, 0));
}

TEST_CASE("a gru has three gates, and a second bias if it resets after the product") {
  const Signature before = signature_of("{gru: {units: 6, reset: before}}", {3, 4, 1, 5});
  CHECK(before.outputs[0] == Shape{3, 6});
  REQUIRE(before.parameters.size() == 3);
  CHECK(before.parameters[0].shape == Shape{18, 4});
  CHECK(before.parameters[1].shape == Shape{18, 6});
  CHECK(before.parameters[2].shape == Shape{18});
  CHECK(before.multiply_adds == 3 * 5 * 18 * (4 + 6));
  const Signature after = signature_of("{gru: {units: 6, reset: after}}", {3, 4, 1, 5});
  REQUIRE(after.parameters.size() == 4);
  CHECK(after.parameters[2].name == "bias");
  CHECK(after.parameters[3].name == "recurrent_bias");
  CHECK(after.parameters[3].shape == Shape{18});
  CHECK(after.parameters[3].group == ParameterGroup::bias);
  CHECK(initial(after.parameters[3]) == std::vector<float>(18, 0));
}

TEST_CASE("the profile of Keras 2 resets before the product, the others after it") {
  CHECK(test::op_from("{gru: 5}")->attributes() ==
        "{units: 5, return_sequences: false, activation: tanh, gates: hard_sigmoid, reset: before, "
        "init: glorot_uniform, recurrent_init: orthogonal, dropout: 0, recurrent_dropout: 0, "
        "backwards: false, mask: false}");
  CHECK(test::op_from("{gru: 5}", config::Profile::torch)->attributes() ==
        "{units: 5, return_sequences: false, activation: tanh, gates: sigmoid, reset: after, init: "
        "torch_default, recurrent_init: torch_default, dropout: 0, recurrent_dropout: 0, "
        "backwards: false, mask: false}");
  for (const config::Profile profile : {config::Profile::mxnet, config::Profile::caffe}) {
    CHECK(test::op_from("{gru: 5}", profile)->attributes().find("gates: sigmoid, reset: after") !=
          std::string::npos);
  }
  const Signature torch = signature_of("{gru: 9}", {1, 3, 1, 4}, config::Profile::torch);
  const std::vector<float> second = initial(torch.parameters[3]);
  const auto [least, most] = std::ranges::minmax(second);
  CHECK(least >= -1 / 3.0f);
  CHECK(most <= 1 / 3.0f);
  CHECK(most - least > 0.4f);
}

TEST_CASE("a layer of both directions is two and a join; the backward one keeps the order") {
  const auto layer = test::op_from(
      "{gru: {units: 4, return_sequences: true, dropout: 0.25, bidirectional: average}}");
  CHECK(layer->attributes().ends_with("mask: false, bidirectional: average}"));
  const TwoWays ways = layer->two_ways();
  REQUIRE(ways.forwards != nullptr);
  CHECK(ways.join == "average");
  CHECK(ways.forwards->attributes().ends_with(
      "dropout: 0.25, recurrent_dropout: 0, backwards: false, mask: false}"));
  CHECK(ways.backwards->attributes().ends_with("backwards: true, mask: false, in_order: true}"));
  CHECK(ways.backwards->contract().keeps_steps);
  const TwoWays last = test::op_from("{lstm: {units: 4, bidirectional: concat}}")->two_ways();
  CHECK(last.backwards->attributes().ends_with("backwards: true, mask: false}"));
  CHECK(test::op_from("{lstm: 4}")->two_ways().forwards == nullptr);
}

TEST_CASE("the forget gate's bias starts at 1, the others at 0") {
  const Signature keras = signature_of("{lstm: 2}", {1, 3, 1, 4});
  CHECK(initial(keras.parameters[2]) == std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0});
  const Signature without = signature_of("{lstm: {units: 2, forget_bias: false}}", {1, 3, 1, 4});
  CHECK(initial(without.parameters[2]) == std::vector<float>(8, 0));
}

TEST_CASE(
    "recurrent weights start orthogonal in Keras and uniform within 1 / sqrt(units) in torch") {
  const Signature keras = signature_of("{lstm: 9}", {1, 3, 1, 4});
  CHECK(keras.parameters[1].initializer.kind == Initializer::Kind::orthogonal);
  const Signature torch = signature_of("{lstm: 9}", {1, 3, 1, 4}, config::Profile::torch);
  for (const ParameterSpec& parameter : torch.parameters) {
    const std::vector<float> values = initial(parameter);
    const auto [least, most] = std::ranges::minmax(values);
    CHECK(least >= -1 / 3.0f);
    CHECK(most <= 1 / 3.0f);
    CHECK(most - least > 0.4f);
  }
}

TEST_CASE("profiles differ in the gates, the forget bias and the initializers of an lstm") {
  CHECK(test::op_from("{lstm: 5}")->attributes() ==
        "{units: 5, return_sequences: false, activation: tanh, gates: hard_sigmoid, forget_bias: "
        "true, "
        "init: glorot_uniform, recurrent_init: orthogonal, dropout: 0, recurrent_dropout: 0, "
        "backwards: false, mask: false}");
  CHECK(test::op_from("{lstm: 5}", config::Profile::torch)->attributes() ==
        "{units: 5, return_sequences: false, activation: tanh, gates: sigmoid, forget_bias: false, "
        "init: torch_default, recurrent_init: torch_default, dropout: 0, recurrent_dropout: 0, "
        "backwards: false, mask: false}");
  CHECK(test::op_from("{simple_rnn: 5}", config::Profile::mxnet)->attributes() ==
        "{units: 5, return_sequences: false, activation: tanh, init: {uniform: 0.01}, "
        "recurrent_init: {uniform: 0.01}, dropout: 0, recurrent_dropout: 0, backwards: false, "
        "mask: false}");
}

TEST_CASE("what is wrong with a recurrent layer is said") {
  CHECK(message_of("{lstm: {units: 4, dropout: 1}}") ==
        "test.yaml:1:32: 'dropout' must be below 1, found 1");
  CHECK(message_of("{simple_rnn: {units: 4, recurrent_dropout: 1.5}}") ==
        "test.yaml:1:48: 'recurrent_dropout' must be below 1, found 1.5");
  CHECK(message_of("{simple_rnn: {units: 4, gates: sigmoid}}").find("unknown key 'gates'") !=
        std::string::npos);
  CHECK(message_of("{simple_rnn: {units: 4, reset: after}}").find("unknown key 'reset'") !=
        std::string::npos);
  CHECK(message_of("{gru: {units: 4, reset: behind}}") ==
        "test.yaml:1:29: 'reset' must be one of after, before, found text 'behind'");
  CHECK(message_of("{gru: {units: 4, backwards: true, bidirectional: concat}}") ==
        "test.yaml:1:54: 'bidirectional' computes both directions, in order; leave 'backwards' and "
        "'in_order' out");
  CHECK(message_of("{lstm: {units: 4, backwards: true, in_order: true}}") ==
        "test.yaml:1:50: 'in_order' is of the states of all steps of a backwards layer; write "
        "'backwards: true' and 'return_sequences: true' too, or leave it out");
  CHECK(message_of("{lstm: {units: 4, bidirectional: both}}") ==
        "test.yaml:1:38: 'bidirectional' must be one of none, concat, add, average, multiply, "
        "found text 'both'");
  const auto shape_message = [](const std::string& yaml, const std::vector<Shape>& inputs) {
    std::string message = "none";
    try {
      static_cast<void>(test::op_from(yaml)->infer(inputs));
    } catch (const ShapeError& error) {
      message = error.what();
    }
    return message;
  };
  CHECK(shape_message("{lstm: 4}", {{2, 3, 5, 7}}) ==
        "expects a sequence [batch, channels, 1, steps], found [2, 3, 5, 7]; begin with input: "
        "{steps: ..., features: ...}, embedding or one_hot");
  CHECK(shape_message("{lstm: {units: 4, mask: true}}", {{2, 3, 1, 7}, {2, 8}}) ==
        "expects a mask [2, 7] of its steps, found [2, 8]");
}

namespace {

/// A mask of `samples` for two gates of five inputs.
std::vector<float> mask_of(const std::vector<std::int64_t>& samples, std::int64_t first,
                           std::int64_t epoch = 3, std::uint32_t node = 8) {
  const StepState state{.epoch = epoch};
  const auto count = static_cast<std::int64_t>(samples.size());
  std::vector<float> mask(static_cast<std::size_t>(2 * count * 5));
  const DropoutMask drawn{
      .batch = {samples.data(), &state, 9}, .node = node, .threshold = drop_threshold(0.4)};
  CpuLauncher(1).rows(2 * count,
                      RecurrentMask<float>{mask.data(), count, 5, first, drawn, 1 / 0.6f});
  return mask;
}

/// What a mask of two gates has for one sample.
std::vector<float> of_sample(const std::vector<float>& mask, std::size_t sample) {
  const std::size_t samples = mask.size() / 10;
  std::vector<float> values(mask.begin() + 5 * sample, mask.begin() + 5 * sample + 5);
  const auto second = mask.begin() + 5 * (samples + sample);
  values.insert(values.end(), second, second + 5);
  return values;
}

}  // namespace

TEST_CASE("a recurrent layer saves its factors, gates, states, masks, weights and steps") {
  const Signature rnn = signature_of("{simple_rnn: 2}", {3, 4, 1, 5});  // 15 rows of 4 + 2 values
  const std::int64_t factors = 15 * 6, gates = 15 * 2, states = (15 + 3) * 2, masks = 3 * 6;
  CHECK(rnn.saved_bytes == (factors + gates + states + masks + 2 * 6 + 15) * 8 + 11 * 256);
  // Gradients of gates, inputs and states, sums of the bias's gradient, and a step's gates.
  const std::int64_t own = 15 * 2 + 15 * 4 + 3 * 3 * 2 + 2 + 3 * 2;
  CHECK(rnn.workspace_bytes == rnn.saved_bytes + own * 8 + 10 * 256);
}

TEST_CASE("gates have inputs of their own with dropout in training, and if a gru resets them") {
  const auto copies = [](RecurrentAttributes::Cell cell, double dropout, double recurrent,
                         bool training) {
    RecurrentAttributes attributes;
    attributes.cell = cell;
    attributes.units = 3;
    attributes.dropout = dropout;
    attributes.recurrent_dropout = recurrent;
    attributes.reset = RecurrentAttributes::Reset::before;
    return RecurrentOp(attributes).copies(training);
  };
  using Cell = RecurrentAttributes::Cell;
  CHECK(copies(Cell::lstm, 0, 0, true) == 1);
  CHECK(copies(Cell::lstm, 0.5, 0, true) == 4);
  CHECK(copies(Cell::lstm, 0, 0.5, true) == 4);
  CHECK(copies(Cell::lstm, 0.5, 0.5, false) == 1);
  CHECK(copies(Cell::gru, 0, 0, false) == 3);
}

TEST_CASE("the gradient of a recurrent bias has a term for each row, in strips or one by one") {
  std::vector<float> sums;
  for (int i = 0; i < 60; ++i) sums.push_back(static_cast<float>(i * 37 % 61));
  for (const std::int64_t copies : {1, 2}) {
    const RecurrentBiasGradient<float, float> gradient{
        {.samples = 2, .steps = 3, .units = 5, .gates = 2, .copies = copies}, sums.data(), nullptr};
    std::vector<double> strip(10);
    gradient.add(0, 4, 0, 10, strip.data());
    gradient.add(4, 6, 0, 10, strip.data());
    for (std::int64_t column = 0; column < 10; ++column) {
      double terms = 0, expected = 0;
      for (std::int64_t row = 0; row < 6; ++row) {
        const std::int64_t at =
            copies == 1 ? row * 10 + column : column / 5 * 30 + row * 5 + column % 5;
        expected += sums[static_cast<std::size_t>(at)];
        terms += gradient(row, column);
      }
      CHECK(terms == expected);
      CHECK(strip[static_cast<std::size_t>(column)] == expected);
    }
  }
}

TEST_CASE("a recurrent mask belongs to its sample, wherever that is in whichever batch") {
  const std::vector<float> together = mask_of({40, 7, 123456789012, 5}, 0);
  const std::vector<float> apart = mask_of({123456789012, 40}, 0);
  CHECK(of_sample(apart, 0) == of_sample(together, 2));
  CHECK(of_sample(apart, 1) == of_sample(together, 0));
  CHECK(of_sample(together, 0) != of_sample(together, 1));
}

TEST_CASE("gates, inputs and state, epochs and layers have masks of their own") {
  std::vector<std::int64_t> samples(40);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int64_t>(i);
  const std::vector<float> inputs = mask_of(samples, 0);
  const std::vector<float> first(inputs.begin(), inputs.begin() + 200);
  CHECK(first != std::vector<float>(inputs.begin() + 200, inputs.end()));
  CHECK(inputs != mask_of(samples, 10));
  CHECK(inputs != mask_of(samples, 0, 4));
  CHECK(inputs != mask_of(samples, 0, 3, 9));
  const auto zeros = std::ranges::count(inputs, 0.0f);
  CHECK(zeros > 400 * 0.4 - 40);  // four deviations
  CHECK(zeros < 400 * 0.4 + 40);
  CHECK(std::ranges::count(inputs, 1 / 0.6f) == 400 - zeros);
}

TEST_CASE("a recurrent mask draws position by position as a dropout layer does") {
  const std::vector<std::int64_t> samples{40};
  const std::vector<float> mask = mask_of(samples, 6);
  const StepState state{.epoch = 3};
  const DropoutMask drawn{
      .batch = {samples.data(), &state, 9}, .node = 8, .threshold = drop_threshold(0.4)};
  const DropoutMask::Sample sample = drawn.sample(0);
  for (std::uint32_t i = 0; i < 10; ++i) {
    CHECK((mask[i] != 0) == (DropoutMask::word(sample, 6 + i) >= drawn.threshold));
  }
}

}  // namespace trainyard
