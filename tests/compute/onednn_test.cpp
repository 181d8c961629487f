// The executors of src/exec/onednn against the reference device in double, on small odd shapes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compute/planes.h"
#include "node_run.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/pool.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

void check_close(const NodeResults& actual, const NodeResults& expected, double allowed) {
  CHECK(largest_difference(actual.train, expected.train) <= allowed);
  CHECK(largest_difference(actual.eval, expected.eval) <= allowed);
  CHECK(largest_difference(actual.input_gradient, expected.input_gradient) <= allowed);
  REQUIRE(actual.parameter_gradients.size() == expected.parameter_gradients.size());
  for (std::size_t i = 0; i < actual.parameter_gradients.size(); ++i) {
    CHECK(largest_difference(actual.parameter_gradients[i], expected.parameter_gradients[i]) <=
          allowed);
  }
  REQUIRE(actual.batch_statistics.size() == expected.batch_statistics.size());
  for (std::size_t i = 0; i < actual.batch_statistics.size(); ++i) {
    CHECK(largest_difference(actual.batch_statistics[i], expected.batch_statistics[i]) <= allowed);
  }
}

/// Compares all passes; `terms`: products in the longest sum.
void check_node(const NodeCase& node, std::int64_t terms) {
  CAPTURE(node.op->type());
  CAPTURE(node.op->attributes());
  CAPTURE(node.input.text());
  CAPTURE(node.input_block);
  CAPTURE(node.output_block);
  const auto executors = make_cpu_executors();
  const NodeResults actual = repeated_run<float>(*executors, node);
  NodeCase plain = node;
  plain.input_block = plain.output_block = 1;
  plain.slice_extra = 0;
  plain.in_place_backward = false;
  check_close(actual, run_node<double>(*make_reference_executors(), plain), tolerance(terms));
}

void check_layouts(const NodeCase& node, std::int64_t terms) {
  for (const std::int64_t input_block : {1, 8, 16}) {
    for (const std::int64_t output_block : {1, 8, 16}) {
      NodeCase one = node;
      one.input_block = input_block;
      one.output_block = output_block;
      check_node(one, terms);
    }
  }
}

NodeCase conv_case(const ConvAttributes& attributes, const Shape& input) {
  NodeCase node;
  node.op = std::make_shared<ConvOp>(attributes);
  node.input = input;
  return node;
}

ConvAttributes conv3x3(std::int64_t filters, Padding::Kind padding) {
  ConvAttributes conv;
  conv.filters = filters;
  conv.kernel = {3, 3};
  conv.pad.kind = padding;
  return conv;
}

TY_AVX2 void round_eight(const float* from, BFloat16* to) {
  onednn::store_values(onednn::load_values(from), to);
}

NodeCase pool_case(const PoolAttributes& attributes, const Shape& input) {
  NodeCase node;
  node.op = std::make_shared<PoolOp>(attributes);
  node.input = input;
  return node;
}

}  // namespace

TEST_CASE("convolutions agree with plain loops in any layout") {
  ConvAttributes conv = conv3x3(32, Padding::Kind::same_upper);
  check_layouts(conv_case(conv, {3, 16, 7, 5}), 16 * 9 * 3);
  conv.stride = {2, 2};
  conv.bias = false;
  check_layouts(conv_case(conv, {3, 16, 6, 5}), 16 * 9 * 3);
  check_layouts(conv_case(conv3x3(13, Padding::Kind::valid), {2, 10, 5, 6}), 10 * 9 * 3);
  check_layouts(conv_case(conv3x3(1, Padding::Kind::same_lower), {1, 1, 3, 3}), 9);
}

TEST_CASE("convolutions with groups, dilation and unequal axes agree with plain loops") {
  ConvAttributes grouped = conv3x3(32, Padding::Kind::same_upper);
  grouped.groups = 4;
  check_layouts(conv_case(grouped, {2, 16, 5, 5}), 4 * 9 * 5);
  ConvAttributes depthwise = conv3x3(16, Padding::Kind::same_upper);
  depthwise.groups = 16;
  check_layouts(conv_case(depthwise, {2, 16, 5, 5}), 9 * 6);
  ConvAttributes odd = conv3x3(16, Padding::Kind::pixels);
  odd.kernel = {2, 5};
  odd.stride = {1, 3};
  odd.dilation = {3, 1};
  odd.pad.amount = {1, 2};
  check_layouts(conv_case(odd, {2, 16, 8, 9}), 16 * 10 * 4);
}

TEST_CASE("a first convolution reads three plain channels and needs no input gradient") {
  NodeCase node = conv_case(conv3x3(16, Padding::Kind::same_upper), {4, 3, 9, 9});
  node.output_block = 16;
  node.needs_input_gradient = false;
  check_node(node, 4 * 81);
}

TEST_CASE("convolutions read and write channel slices of wider tensors") {
  NodeCase node = conv_case(conv3x3(32, Padding::Kind::same_upper), {2, 16, 5, 5});
  node.input_block = node.output_block = 16;
  node.slice_first = 16;
  node.slice_extra = 32;
  check_node(node, 16 * 9 * 3);
}

TEST_CASE("dense layers read features and images in any layout") {
  DenseAttributes dense;
  dense.units = 10;
  NodeCase node;
  node.op = std::make_shared<DenseOp>(dense);
  node.input = {5, 67};
  check_node(node, 67);
  node.input = {3, 20, 2, 3};
  check_layouts(node, 120);
  dense.bias = false;
  dense.units = 1;
  node.op = std::make_shared<DenseOp>(dense);
  node.input = {1, 1};
  check_node(node, 1);
}

TEST_CASE("a ReLU that is part of a layer cuts its outputs at 0, and leaves NaN") {
  const auto executors = make_cpu_executors();
  ConvAttributes conv = conv3x3(16, Padding::Kind::same_upper);
  NodeCase node = conv_case(conv, {2, 16, 5, 5});
  node.output_block = 8;
  CHECK(relu_cuts_alone(*executors, node));
  node.op = std::make_shared<ConvTransposeOp>(ConvTransposeAttributes{.conv = conv});
  CHECK(relu_cuts_alone(*executors, node));
  node.op = std::make_shared<DenseOp>(DenseAttributes{.units = 10});
  node.output_block = 1;
  CHECK(relu_cuts_alone(*executors, node));
}

TEST_CASE("max pooling agrees with plain loops in any layout") {
  PoolAttributes pool;
  check_layouts(pool_case(pool, {2, 16, 6, 7}), 1);
  pool.size = {3, 3};
  pool.stride = {2, 2};
  pool.pad = {Padding::Kind::pixels, {1, 1}};
  check_layouts(pool_case(pool, {2, 10, 6, 7}), 4);
  pool.ceil = true;
  check_layouts(pool_case(pool, {2, 16, 6, 8}), 4);
  pool.global = true;
  check_layouts(pool_case(pool, {3, 20, 5, 3}), 1);
}

TEST_CASE("a NaN is the maximum of every window over it, in whole windows and in cut ones") {
  PoolAttributes pool;
  pool.size = {3, 3};
  pool.stride = {1, 1};
  pool.pad = {Padding::Kind::pixels, {1, 1}};
  for (const std::int64_t block : {8, 16}) {
    NodeCase node = pool_case(pool, {2, 16, 6, 7});
    node.input_block = node.output_block = block;
    const NodeResults results =
        run_node<float>(*make_cpu_executors(), node, std::numeric_limits<double>::quiet_NaN());
    const auto is_nan = [](double x) { return std::isnan(x); };
    CHECK(std::ranges::count_if(results.train, is_nan) == 6);  // window of the pixel at 0, 3
    CHECK(std::ranges::count_if(results.eval, is_nan) == 6);
  }
}

TEST_CASE("average pooling agrees with plain loops whatever padding it counts") {
  for (const bool count_pad : {false, true}) {
    for (const bool ceil : {false, true}) {
      PoolAttributes pool;
      pool.kind = PoolAttributes::Kind::average;
      pool.size = {3, 2};
      pool.stride = {2, 3};
      pool.pad = {Padding::Kind::pixels, {1, 1}};
      pool.count_pad = count_pad;
      pool.ceil = ceil;
      check_layouts(pool_case(pool, {2, 18, 8, 6}), 6);
    }
  }
  PoolAttributes global;
  global.kind = PoolAttributes::Kind::average;
  global.global = true;
  check_layouts(pool_case(global, {3, 16, 8, 8}), 64);
  check_layouts(pool_case(global, {3, 20, 5, 3}), 15);
}

TEST_CASE("batch norm agrees with plain loops, with and without its ReLU and parameters") {
  for (const bool relu : {false, true}) {
    for (const bool parameters : {false, true}) {
      BnAttributes bn;
      bn.relu = relu;
      bn.scale = bn.center = parameters;
      NodeCase node;
      node.op = std::make_shared<BnOp>(bn);
      for (const Shape& shape : {Shape{3, 16, 5, 7}, Shape{4, 20, 3, 3}, Shape{33, 10}}) {
        node.input = shape;
        for (const std::int64_t block : {1, 8, 16}) {
          node.input_block = node.output_block = block;
          node.in_place_backward = block == 16;
          check_node(node, 105);
        }
      }
    }
  }
}

TEST_CASE("batch norm works with only one of its parameters and without an input gradient") {
  for (const bool scale : {false, true}) {
    BnAttributes bn;
    bn.scale = scale;
    bn.center = !scale;
    NodeCase node;
    node.op = std::make_shared<BnOp>(bn);
    node.input = {3, 16, 4, 4};
    node.input_block = node.output_block = 16;
    node.needs_input_gradient = false;
    check_node(node, 48);
  }
}

TEST_CASE("batch norm reads and writes channel slices of wider tensors") {
  NodeCase node;
  node.slice_first = 16;
  node.slice_extra = 32;
  for (const bool relu : {false, true}) {
    for (const bool output_only : {false, true}) {
      for (const std::int64_t block : {8, 16}) {
        BnAttributes bn;
        bn.relu = relu;
        bn.scale = !output_only;
        node.op = std::make_shared<BnOp>(bn);
        node.slice_output_only = output_only;
        node.input_block = node.output_block = block;
        node.input = {3, 32, 5, 7};
        node.needs_input_gradient = true;
        check_node(node, 105);
        node.input = {1, 16, 23, 45};  // several pieces of unequal size
        node.needs_input_gradient = relu;
        check_node(node, 1035);
      }
    }
  }
}

TEST_CASE("batch norm over slices is bit-identical on any number of threads") {
  NodeCase node;
  node.op = std::make_shared<BnOp>(BnAttributes{});
  node.input = {3, 48, 9, 33};
  node.input_block = node.output_block = 16;
  node.slice_extra = 16;
  const auto executors = make_cpu_executors();
  node.threads = 1;
  const NodeResults one = run_node<float>(*executors, node);
  node.threads = 3;
  CHECK(run_node<float>(*executors, node) == one);
}

TEST_CASE("pooling reads and writes channel slices of wider tensors") {
  NodeCase node = pool_case(PoolAttributes{}, {3, 32, 5, 7});
  node.slice_first = 16;
  node.slice_extra = 32;
  node.input_block = node.output_block = 16;
  check_node(node, 1);
}

TEST_CASE("pooling is bit-identical on any number of threads") {
  PoolAttributes pool;
  pool.size = {3, 3};
  pool.stride = {2, 2};
  for (const auto kind : {PoolAttributes::Kind::max, PoolAttributes::Kind::average}) {
    pool.kind = kind;
    NodeCase node = pool_case(pool, {3, 24, 9, 7});
    node.input_block = node.output_block = 8;
    const auto executors = make_cpu_executors();
    node.threads = 1;
    const NodeResults one = run_node<float>(*executors, node);
    for (const int threads : {2, 4, 13}) {  // 13: more than planes
      node.threads = threads;
      CHECK(run_node<float>(*executors, node) == one);
    }
  }
}

TEST_CASE("eight floats are rounded to bf16 as one is") {
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    std::array<float, 8> values;
    std::array<BFloat16, 8> rounded;
    constexpr std::array<std::uint32_t, 8> kLower{0,      1,      0x7fff, 0x8000,
                                                  0x8001, 0xffff, 0x4000, 0xc000};
    for (std::size_t i = 0; i < 8; ++i) values[i] = std::bit_cast<float>(upper << 16 | kLower[i]);
    round_eight(values.data(), rounded.data());
    bool same = true;
    for (std::size_t i = 0; i < 8; ++i) {
      same = same && rounded[i].bits == BFloat16(values[i]).bits;
    }
    if (!same) FAIL_CHECK(upper);
  }
}

TEST_CASE("a NaN reaches the gradients through batch norm") {
  BnAttributes bn;
  bn.relu = true;  // oneDNN's own code turns it into 0 in the forward pass
  NodeCase node;
  node.op = std::make_shared<BnOp>(bn);
  node.input = {3, 16, 4, 4};
  node.input_block = node.output_block = 16;
  const NodeResults results = run_node<float>(*make_cpu_executors(), node, std::nan(""));
  CHECK(std::isnan(results.batch_statistics[0][0]));
  CHECK(std::isnan(results.parameter_gradients[0][0]));
  CHECK(std::isnan(results.input_gradient[0]));
  CHECK(std::isfinite(results.parameter_gradients[0][1]));
}
