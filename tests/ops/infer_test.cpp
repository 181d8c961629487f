// Shapes, parameters, defaults of profiles, attributes as text, and messages for wrong shapes.
#include <doctest/doctest.h>

#include <span>

#include "config/fields.h"
#include "config/load.h"
#include "op_text.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/loss.h"
#include "ops/op.h"

using namespace trainyard;
using config::Profile;

namespace {

std::string refusal_of(const std::string& yaml) {
  try {
    static_cast<void>(test::op_from(yaml));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string shape_error(const std::string& yaml, const std::vector<Shape>& inputs) {
  try {
    static_cast<void>(test::op_from(yaml)->infer(inputs));
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

Signature infer(const std::string& yaml, const std::vector<Shape>& inputs,
                Profile profile = Profile::keras2) {
  return test::op_from(yaml, profile)->infer(inputs);
}

}  // namespace

TEST_CASE("conv infers its output, parameters, fans and multiply-adds") {
  const Signature signature = infer(
      "{conv: {filters: 8, kernel: 3, stride: 2, pad: same_upper, groups: 2}}", {{4, 6, 9, 7}});
  CHECK(signature.outputs[0] == Shape{4, 8, 5, 4});
  CHECK(signature.parameters[0].shape == Shape{8, 3, 3, 3});
  CHECK(signature.parameters[0].fan_in == 27);
  CHECK(signature.parameters[0].fan_out == 72);
  CHECK(signature.parameters[1].shape == Shape{8});
  CHECK(signature.multiply_adds == 4 * 8 * 5 * 4 * 27);
}

TEST_CASE(
    "a transposed convolution has the convolution's weights, exchanged, and counts its taps") {
  const Signature signature = infer(
      "{conv_transpose: {filters: 8, kernel: 3, stride: 2, pad: 1, output_pad: 1, groups: 2}}",
      {{4, 6, 5, 4}});
  CHECK(signature.outputs[0] == Shape{4, 8, 10, 8});
  CHECK(signature.parameters[0].shape == Shape{6, 4, 3, 3});
  CHECK(signature.parameters[0].fan_in == 9 * 4);
  CHECK(signature.parameters[0].fan_out == 9 * 6);
  CHECK(signature.parameters[1].shape == Shape{8});
  CHECK(signature.multiply_adds == 4 * 6 * 5 * 4 * 4 * 9);
}

TEST_CASE("a transposed convolution pads as its framework does, and MXNet's has no bias") {
  const auto output = [](const char* op, Profile profile) {
    return infer(op, {{1, 3, 5, 5}}, profile).outputs[0].h();
  };
  const char* const small_window = "{conv_transpose: {filters: 4, kernel: 2, stride: 3}}";
  CHECK(output(small_window, Profile::keras2) == 15);  // input * stride
  CHECK(output(small_window, Profile::torch) == 14);   // (input - 1) * stride + kernel
  CHECK(infer("{conv_transpose: [4, 3]}", {{1, 3, 5, 5}}, Profile::mxnet).parameters.size() == 1);
  CHECK(infer("{conv_transpose: [4, 3]}", {{1, 3, 5, 5}}, Profile::caffe).parameters.size() == 2);
}

TEST_CASE("dense reads images as one row of features") {
  const Signature signature = infer("{dense: 10}", {{4, 6, 2, 3}});
  CHECK(signature.outputs[0] == Shape{4, 10});
  CHECK(signature.parameters[0].shape == Shape{10, 36});
  CHECK(signature.multiply_adds == 4 * 10 * 36);
}

TEST_CASE("pools, flatten and concat infer their shapes") {
  CHECK(infer("{avg_pool: 7}", {{4, 6, 7, 7}}).outputs[0] == Shape{4, 6, 1, 1});
  CHECK(infer("{max_pool: [3, 2]}", {{4, 6, 8, 8}}).outputs[0] == Shape{4, 6, 3, 3});
  CHECK(infer("{max_pool: {size: 3, stride: 2, ceil: true}}", {{4, 6, 8, 8}}).outputs[0] ==
        Shape{4, 6, 4, 4});
  CHECK(infer("global_avg_pool", {{4, 6, 7, 5}}).outputs[0] == Shape{4, 6});
  CHECK(infer("flatten", {{4, 6, 7, 5}}).outputs[0] == Shape{4, 210});
  CHECK(infer("concat", {{4, 6, 7, 5}, {4, 1, 7, 5}, {4, 2, 7, 5}}).outputs[0] ==
        Shape{4, 9, 7, 5});
}

TEST_CASE("bn's running variance follows its convention") {
  const auto scale = [](const std::string& yaml, Profile profile) {
    return infer(yaml, {{4, 6, 5, 5}}, profile).statistics[1].batch_scale;
  };
  CHECK(scale("bn", Profile::keras2) == 1);
  CHECK(scale("bn", Profile::torch) == 100.0 / 99.0);
  CHECK(scale("{bn: {running_var: keras}}", Profile::keras2) == 100.0 / (99.0 - 1e-3));
  CHECK(infer("{bn: {running_var: unbiased}}", {{1, 6}}).statistics[1].batch_scale == 1);
}

TEST_CASE("bn counts the samples of all replicas if its statistics cover them") {
  const auto scale = [](bool sync, int replicas) {
    const Shape input{4, 6, 5, 5};
    const BnOp op({.running_var = BnAttributes::RunningVariance::unbiased,
                   .sync = sync,
                   .replicas = replicas});
    return op.infer(std::span(&input, 1)).statistics[1].batch_scale;
  };
  CHECK(scale(true, 3) == 300.0 / 299.0);
  CHECK(scale(true, 1) == 100.0 / 99.0);
  CHECK(scale(false, 3) == 100.0 / 99.0);
}

TEST_CASE("profiles give each framework's defaults") {
  CHECK(test::op_from("{conv: [64, 3]}")->attributes() ==
        "{filters: 64, kernel: [3, 3], stride: [1, 1], pad: valid, dilation: [1, 1], groups: 1, "
        "bias: true, init: glorot_uniform, l2: 0}");
  CHECK(test::op_from("{dense: 10}")->attributes() ==
        "{units: 10, bias: true, init: glorot_uniform, l2: 0}");
  CHECK(test::op_from("{dense: 10}", Profile::torch)->attributes() ==
        "{units: 10, bias: true, init: torch_default, l2: 0}");
  CHECK(test::op_from("bn")->attributes() ==
        "{momentum: 0.99, eps: 0.001, scale: true, center: true, running_var: biased, sync: "
        "false}");
  CHECK(test::op_from("bn", Profile::torch)->attributes() ==
        "{momentum: 0.9, eps: 1e-05, scale: true, center: true, running_var: unbiased, sync: "
        "false}");
  CHECK(test::op_from("{avg_pool: 7}")->attributes() ==
        "{size: [7, 7], stride: [7, 7], pad: valid, ceil: false, count_pad: false}");
  CHECK(test::op_from("{avg_pool: 7}", Profile::torch)->attributes() ==
        "{size: [7, 7], stride: [7, 7], pad: valid, ceil: false, count_pad: true}");
}

TEST_CASE("the mxnet and caffe profiles give the defaults of their layers") {
  const auto written = [](const std::string& yaml, Profile profile) {
    return test::op_from(yaml, profile)->attributes();
  };
  CHECK(written("bn", Profile::mxnet) ==
        "{momentum: 0.9, eps: 0.001, scale: false, center: true, running_var: biased, sync: "
        "false}");
  CHECK(written("bn", Profile::caffe) ==
        "{momentum: 0.999, eps: 1e-05, scale: false, center: false, running_var: unbiased, sync: "
        "false}");
  CHECK(written("{bn: {momentum: 0.5, scale: true}}", Profile::mxnet) ==
        "{momentum: 0.5, eps: 0.001, scale: true, center: true, running_var: biased, sync: false}");
  CHECK(written("{dense: 10}", Profile::mxnet) ==
        "{units: 10, bias: true, init: {uniform: 0.01}, l2: 0}");
  CHECK(written("{dense: 10}", Profile::caffe) == "{units: 10, bias: true, init: xavier, l2: 0}");
  CHECK(written("{conv: [64, 3]}", Profile::mxnet).find("init: {uniform: 0.01}") !=
        std::string::npos);
  CHECK(written("{conv: [64, 3]}", Profile::caffe).find("init: xavier") != std::string::npos);
  CHECK(written("{max_pool: 3}", Profile::mxnet) ==
        "{size: [3, 3], stride: [1, 1], pad: valid, ceil: false}");
  CHECK(written("{max_pool: [3, 2]}", Profile::caffe) ==
        "{size: [3, 3], stride: [2, 2], pad: valid, ceil: true}");
  CHECK(written("{avg_pool: 3}", Profile::mxnet) ==
        "{size: [3, 3], stride: [1, 1], pad: valid, ceil: false, count_pad: true}");
  CHECK(written("{avg_pool: 3}", Profile::caffe) ==
        "{size: [3, 3], stride: [1, 1], pad: valid, ceil: true, count_pad: true}");
  CHECK(written("leaky_relu", Profile::mxnet) == "{slope: 0.25}");
  CHECK(written("leaky_relu", Profile::caffe) == "{slope: 0.01}");
  CHECK(written("elu", Profile::mxnet) == "{alpha: 0.25}");
  CHECK(written("elu", Profile::caffe) == "{alpha: 1}");
}

TEST_CASE("layers without a row of their own in the tests above have the defaults of profiles.md") {
  const auto has = [](const std::string& yaml, Profile profile, const std::string& text) {
    return test::op_from(yaml, profile)->attributes().find(text) != std::string::npos;
  };
  using enum Profile;
  for (const char* norm : {"layer_norm", "{group_norm: 2}"}) {
    CAPTURE(norm);
    for (const Profile profile : {torch, mxnet}) CHECK(has(norm, profile, "eps: 1e-05"));
    for (const Profile profile : {keras2, caffe}) CHECK(has(norm, profile, "eps: 0.001"));
  }
  CHECK(has("instance_norm", torch, "eps: 1e-05, scale: false, center: false"));
  for (const Profile profile : {keras2, mxnet, caffe}) {
    CHECK(has("instance_norm", profile, "eps: 0.001, scale: true, center: true"));
  }
  for (const Profile profile : {torch, mxnet, caffe}) CHECK(has("prelu", profile, "0.25"));
  CHECK(has("prelu", keras2, "0}"));
  CHECK(has("lrn", mxnet, "k: 2"));
  for (const Profile profile : {keras2, torch, caffe}) CHECK(has("lrn", profile, "k: 1"));
  CHECK(has("hard_sigmoid", torch, "slope: 0.1666"));
  for (const Profile profile : {keras2, mxnet, caffe}) CHECK(has("hard_sigmoid", profile, "{}"));
}

TEST_CASE("positional values are filters, kernel, stride, pad; size, stride, pad; units") {
  CHECK(test::op_from("{conv: [8, [3, 1], 2, same_upper]}")->attributes() ==
        "{filters: 8, kernel: [3, 1], stride: [2, 2], pad: same_upper, dilation: [1, 1], groups: "
        "1, bias: true, init: glorot_uniform, l2: 0}");
  CHECK(test::op_from("{max_pool: [3, 2, 1]}")->attributes() ==
        "{size: [3, 3], stride: [2, 2], pad: 1, ceil: false}");
  CHECK(test::op_from("{max_pool: [3, [1, 2], 1]}")->attributes() ==
        "{size: [3, 3], stride: [1, 2], pad: 1, ceil: false}");
  CHECK(test::op_from("{max_pool: [3, [2, 1], 1]}")->attributes() ==
        "{size: [3, 3], stride: [2, 1], pad: 1, ceil: false}");
}

TEST_CASE("torch's initializer also sets the range of the bias") {
  const Signature torch = infer("{conv: [8, 3]}", {{1, 4, 9, 9}}, Profile::torch);
  CHECK(torch.parameters[1].initializer.kind == Initializer::Kind::torch_default);
  CHECK(torch.parameters[1].fan_in == 36);
  const Signature keras = infer("{conv: [8, 3]}", {{1, 4, 9, 9}});
  CHECK(keras.parameters[1].initializer.kind == Initializer::Kind::zeros);
}

TEST_CASE("errors of wrong shapes state what was found and expected") {
  const std::string images = "expects images [batch, channels, height, width], found [4, 6]";
  CHECK(shape_error("{dropout: 0.5}", {{1, 65536, 256, 257}}) ==
        "takes at most 4294967296 values per sample, found [1, 65536, 256, 257]");
  CHECK(shape_error("{conv: [8, 3]}", {{4, 6}}) == images);
  CHECK(shape_error("{max_pool: 2}", {{4, 6}}) == images);
  CHECK(shape_error("global_avg_pool", {{4, 6}}) == images);
  const std::string either =
      "expects features [batch, channels] or images [batch, channels, height, width], found [4]";
  CHECK(shape_error("{dense: 3}", {{4}}) == either);
  CHECK(shape_error("bn", {{4}}) == either);
  CHECK(shape_error("flatten", {{4}}) == either);
  CHECK(shape_error("concat", {{4}}) == either);
}

TEST_CASE("slices, permutations and reshapes infer their shapes") {
  CHECK(infer("{slice: {begin: 1, end: 6, step: 2}}", {{4, 7, 5, 6}}).outputs[0] ==
        Shape{4, 3, 5, 6});
  CHECK(infer("{slice: {begin: -2}}", {{4, 7}}).outputs[0] == Shape{4, 2});
  CHECK(infer("{slice: {begin: 1, end: 3, axis: height}}", {{4, 7, 5, 6}}).outputs[0] ==
        Shape{4, 7, 2, 6});
  CHECK(infer("{slice: {begin: 1, end: 3, axis: width}}", {{4, 7, 5, 6}}).outputs[0] ==
        Shape{4, 7, 5, 2});
  CHECK(infer("{permute: [w, c, h]}", {{4, 7, 5, 6}}).outputs[0] == Shape{4, 6, 7, 5});
  CHECK(infer("{reshape: 12}", {{4, 3, 2, 2}}).outputs[0] == Shape{4, 12});
  CHECK(infer("{reshape: [2, -1, 3]}", {{4, 12}}).outputs[0] == Shape{4, 2, 2, 3});
  const auto text = [](const char* yaml) { return test::op_from(yaml)->attributes(); };
  CHECK(text("{slice: {begin: 1, end: 6}}") == "{begin: 1, end: 6, axis: channels}");
  CHECK(text("{pad: 1}") == "{top: 1, bottom: 1, left: 1, right: 1, value: 0}");
  CHECK(text("{pad: {back: 1}}") ==
        "{top: 0, bottom: 0, left: 0, right: 0, value: 0, front: 0, back: 1}");
}

TEST_CASE("axes and extents that make no shape are errors") {
  for (const char* axes : {"[c, h]", "[c, h, h]", "[c, h, x]", "[c, h, hw]"}) {
    CHECK(refusal_of("{permute: " + std::string(axes) + "}")
              .find("expected c, h and w in some order") != std::string::npos);
  }
  for (const char* extents : {"[2, 6]", "[-1, -1, 2]", "[0]"}) {
    CHECK(refusal_of("{reshape: " + std::string(extents) + "}")
              .find("expected [features] or [channels, height, width]") != std::string::npos);
  }
}

TEST_CASE("a recurrent layer draws if it drops its inputs or its state") {
  const auto draws = [](const std::string& keys) {
    return test::op_from("{lstm: {units: 3" + keys + "}}")->contract().draws;
  };
  CHECK_FALSE(draws(""));
  CHECK(draws(", dropout: 0.1"));
  CHECK(draws(", recurrent_dropout: 0.1"));
}

TEST_CASE("weights of a loss are those of its labels") {
  const auto weighted = [](const Shape& weights) {
    const std::vector<Shape> shapes{{8, 3}, {8}, weights};
    return LossOp("cross_entropy", {}).infer(shapes).outputs[0];
  };
  CHECK(weighted({8}) == Shape{8});
  CHECK_THROWS_WITH_AS(static_cast<void>(weighted({7})),
                       "cross_entropy needs weights [8], found [7]", ShapeError);
}

TEST_CASE("layers of sequences infer a position each") {
  const Signature embedding = infer("{embedding: {units: 8, vocabulary: 50}}", {{4, 7}});
  CHECK(embedding.outputs[0] == Shape{4, 8, 1, 7});
  CHECK(embedding.parameters[0].shape == Shape{50, 8});
  CHECK(infer("{one_hot: 50}", {{4, 7}}).outputs[0] == Shape{4, 50, 1, 7});
  const Signature dense = infer("{dense: {units: 3, per_position: true}}", {{4, 8, 1, 7}});
  CHECK(dense.outputs[0] == Shape{4, 3, 1, 7});
  CHECK(dense.parameters[0].shape == Shape{3, 8});
  CHECK(dense.parameters[0].fan_in == 8);
  CHECK(dense.multiply_adds == 4 * 7 * 3 * 8);
  CHECK(infer("{dense: {units: 3, per_position: true}}", {{4, 8}}).outputs[0] == Shape{4, 3});
  CHECK(shape_error("{dense: {units: 3, per_position: true}}", {{4, 8, 2, 7}}) ==
        "dense with 'per_position' needs a sequence [n, c, 1, t], found [4, 8, 2, 7]");
  CHECK(shape_error("{embedding: {units: 8, vocabulary: 50}}", {{4, 7, 1, 1}}) ==
        "embedding needs tokens [n, t], found [4, 7, 1, 1]");
  CHECK(shape_error("{one_hot: 50}", {{4}}) == "one_hot needs tokens [n, t], found [4]");
}

TEST_CASE("an embedding begins as its framework's does") {
  const auto init = [](Profile profile) {
    return test::op_from("{embedding: {units: 8, vocabulary: 50}}", profile)->attributes();
  };
  CHECK(init(Profile::keras2) == "{units: 8, init: {uniform: 0.05}, l2: 0, vocabulary: 50}");
  CHECK(init(Profile::torch) == "{units: 8, init: {normal: 1}, l2: 0, vocabulary: 50}");
  CHECK(init(Profile::mxnet) == "{units: 8, init: {uniform: 0.01}, l2: 0, vocabulary: 50}");
  CHECK(init(Profile::caffe) == "{units: 8, init: {uniform: 0.05}, l2: 0, vocabulary: 50}");
}

TEST_CASE("groups that do not divide are an error") {
  CHECK(shape_error("{conv: {filters: 8, kernel: 3, groups: 4}}", {{1, 6, 5, 5}}) ==
        "6 input channels are not divisible by 4 groups");
  CHECK(shape_error("{conv: {filters: 9, kernel: 3, groups: 3}}", {{1, 6, 5, 5}}) == "no error");
  CHECK(shape_error("{conv: {filters: 8, kernel: 3, groups: 3}}", {{1, 6, 5, 5}}) ==
        "8 filters are not divisible by 3 groups");
}

TEST_CASE("transposed convolutions that cut everything off, or pad twice, are an error") {
  CHECK(shape_error("{conv_transpose: {filters: 8, kernel: 3, pad: 4}}", {{1, 6, 9, 5}}) ==
        "width: no pixel is left: 7 are written and 4 of padding are cut off each side");
  CHECK(shape_error("{conv_transpose: {filters: 8, kernel: 3, stride: 2, pad: same_upper, "
                    "output_pad: 1}}",
                    {{1, 6, 5, 5}}) ==
        "height: 'output_pad' needs a 'pad' in pixels: same_upper and same_lower give the input "
        "times the stride");
  CHECK(shape_error("{conv_transpose: {filters: 8, kernel: 3, groups: 4}}", {{1, 6, 5, 5}}) ==
        "6 input channels are not divisible by 4 groups");
  CHECK(shape_error("{conv_transpose: [8, 3]}", {{4, 6}}) ==
        "expects images [batch, channels, height, width], found [4, 6]");
  CHECK(refusal_of("{conv_transpose: {filters: 8, kernel: 3, stride: 2, output_pad: [1, 2]}}") ==
        "test.yaml:1:69: 'output_pad' must be below the stride [2, 2], found [1, 2]");
}

TEST_CASE("windows that do not fit are an error") {
  CHECK(shape_error("{conv: [8, 7]}", {{1, 6, 9, 5}}) ==
        "width: a window over 7 pixels does not fit an input of 5 with 0 of padding on each side");
  CHECK(shape_error("{avg_pool: 8}", {{1, 6, 7, 9}}) ==
        "height: a window over 8 pixels does not fit an input of 7 with 0 of padding on each side");
  CHECK(shape_error("{max_pool: {size: 2, pad: 2}}", {{1, 6, 7, 7}}) ==
        "padding [2, 2] must be smaller than the window [2, 2]");
}

TEST_CASE("multiply gives the map's shape whether its factors come first or last") {
  CHECK(infer("multiply", {{4, 6, 7, 5}, {4, 6, 1, 1}}).outputs[0] == Shape{4, 6, 7, 5});
  CHECK(infer("multiply", {{4, 6}, {4, 6, 7, 5}}).outputs[0] == Shape{4, 6, 7, 5});
  CHECK(infer("multiply", {{4, 6}, {4, 6, 1, 1}}).outputs[0] == Shape{4, 6, 1, 1});
}

TEST_CASE("branches that differ are an error naming both shapes") {
  CHECK(shape_error("concat", {{4, 6, 7, 5}, {4, 6, 7, 6}}) ==
        "branches differ beyond channels: [4, 6, 7, 5] from branch 0, [4, 6, 7, 6] from branch 1");
  CHECK(shape_error("concat", {{4, 6, 1, 1}, {4, 6}}) ==
        "branches differ beyond channels: [4, 6, 1, 1] from branch 0, [4, 6] from branch 1");
  CHECK(shape_error("add", {{4, 6}, {4, 7}}) ==
        "branches differ: [4, 6] from branch 0, [4, 7] from branch 1");
  CHECK(shape_error("multiply", {{4, 6}}) == "multiply needs at least two branches, found 1");
  CHECK(shape_error("multiply", {{4, 6, 7, 5}, {4, 6, 7, 1}}) ==
        "branches differ: [4, 6, 7, 5] from branch 0, [4, 6, 7, 1] from branch 1");
  CHECK(shape_error("multiply", {{4, 6, 7, 5}, {4, 3}}) ==
        "branches differ: [4, 6, 7, 5] from branch 0, [4, 3] from branch 1");
  CHECK(shape_error("multiply", {{4, 6, 7, 5}, {4, 6}, {4, 6}}) ==
        "a map and the factors of its channels, [c, 1, 1] or [c], are multiplied two at a time, "
        "found 3 branches");
  CHECK(shape_error("add", {{4, 6, 7, 5}, {4, 6, 1, 1}}) ==
        "branches differ: [4, 6, 7, 5] from branch 0, [4, 6, 1, 1] from branch 1");
}

TEST_CASE("attributes out of range are errors at their position") {
  CHECK(refusal_of("{conv: {filters: 8}}") == "test.yaml:1:6: missing key 'kernel' in 'conv'");
  CHECK(refusal_of("{conv: {filters: 0, kernel: 3}}") ==
        "test.yaml:1:22: 'filters' must be a whole number from 1 to 16777216, found number 0");
  CHECK(refusal_of("{conv: {filters: 8, kernel: 3, pad: same_uper}}") ==
        "test.yaml:1:41: 'pad' must be one of valid, same_upper, same_lower, same_symmetric, found "
        "text 'same_uper'; did you mean 'same_upper'?");
  CHECK(
      refusal_of("{conv: {filters: 8, kernel: 3, pad: -1}}") ==
      "test.yaml:1:41: 'pad' must be a whole number from 0 to 65536 or two of them, [h, w], found "
      "number -1");
  CHECK(refusal_of("{bn: {eps: 0}}") ==
        "test.yaml:1:16: 'eps' must be a number above 0, found number 0");
  CHECK(refusal_of("{bn: {momentum: 2}}") ==
        "test.yaml:1:21: 'momentum' must be a number from 0 to 1, found number 2");
  CHECK(refusal_of("{max_pool: {size: 2, count_pad: true}}") ==
        "test.yaml:1:26: unknown key 'count_pad' in 'max_pool'; its keys are size, stride, pad, "
        "ceil");
}
