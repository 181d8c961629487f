// Steps of the CPU that add their input's gradient to another one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "compute/devices/cpu_executors.h"
#include "node_run.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Winograd = CpuExecutorSettings::Winograd;

/// On maps in blocks of 8, and of 16 where there is AVX-512.
template <class Check>
void each_block(NodeCase node, const Check& check) {
  for (const std::int64_t block : {8, 16}) {
    if (block == 16 && !processor_has_avx512()) continue;
    CAPTURE(block);
    node.input_block = node.output_block = block;
    check(node);
  }
}

NodeCase adding(std::shared_ptr<const Op> op, const Shape& input) {
  return {.op = std::move(op), .input = input, .adds_gradient = true};
}

NodeCase adding_conv(const ConvAttributes& conv, const Shape& input) {
  return adding(std::make_shared<ConvOp>(conv), input);
}

ConvAttributes conv_of(std::int64_t filters, std::int64_t kernel) {
  ConvAttributes conv;
  conv.filters = filters;
  conv.kernel = {kernel, kernel};
  conv.pad = {.kind = Padding::Kind::pixels, .amount = {kernel / 2, kernel / 2}};
  return conv;
}

template <class T>
std::vector<double> gradient_of(const NodeCase& node, Winograd winograd) {
  return repeated_run<T>(*make_cpu_executors({.winograd = winograd}), node).input_gradient;
}

std::vector<double> exact_gradient(NodeCase node) {
  node.input_block = node.output_block = 1;
  return run_node<double>(*make_reference_executors(), node).input_gradient;
}

/// `terms`: products in the longest sum.
void check_adds(const NodeCase& node, std::int64_t terms) {
  CAPTURE(node.op->attributes());
  const std::vector<double> exact = exact_gradient(node);
  NodeCase alone = node;
  alone.adds_gradient = false;
  CHECK(largest_difference(exact, exact_gradient(alone)) > 0.5);
  CHECK(largest_difference(gradient_of<float>(node, Winograd::off), exact) <= tolerance(terms));
}

/// In bf16 a sum is rounded once: to half of 2^-7 of it. Factors are rounded too.
void check_rounding(const NodeCase& node, std::int64_t terms) {
  if (!cpu_executors_have_bf16() || node.input_block != 16) return;
  NodeCase plain = node;
  plain.input_block = plain.output_block = 1;
  const std::vector<double> found = gradient_of<BFloat16>(node, Winograd::off);
  const std::vector<double> expected =
      run_node<BFloat16>(*make_reference_executors(), plain).input_gradient;
  REQUIRE(found.size() == expected.size());
  double excess = 0;  // over one step of bf16, which sums on both sides of a tie may be apart
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double step = std::abs(expected[i]) / 128;
    excess = std::max(excess, std::abs(found[i] - expected[i]) - step);
  }
  CHECK(excess <= tolerance(terms));
}

}  // namespace

TEST_CASE("Winograd's gradient is added to what is there") {
  for (const Winograd winograd : {Winograd::two, Winograd::four_by_two, Winograd::four}) {
    each_block(adding_conv(conv_of(32, 3), {3, 16, 7, 5}), [&](const NodeCase& node) {
      NodeCase alone = node;
      alone.adds_gradient = false;
      const std::vector<double> gradient = gradient_of<float>(alone, winograd);
      std::vector<double> sum = added_to(node);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = static_cast<float>(sum[i]) + static_cast<float>(gradient[i]);
      }
      CHECK(gradient_of<float>(node, winograd) == sum);
    });
  }
}

TEST_CASE("oneDNN's gradient of a 1x1 convolution is added to what is there") {
  for (const std::int64_t filters : {32, 13}) {
    each_block(adding_conv(conv_of(filters, 1), {3, 24, 7, 5}), [&](const NodeCase& node) {
      check_adds(node, filters);
      check_rounding(node, filters);
    });
  }
}

TEST_CASE("other convolutions' gradients are added apart") {
  ConvAttributes strided = conv_of(32, 3), grouped = conv_of(32, 3), pixels = conv_of(32, 1);
  strided.stride = pixels.stride = {2, 2};
  grouped.groups = 2;
  for (const ConvAttributes& conv : {conv_of(32, 3), strided, grouped, pixels}) {
    each_block(adding_conv(conv, {2, 32, 6, 6}),
               [&](const NodeCase& node) { check_adds(node, 9 * 32); });
  }
}

TEST_CASE("the gradient of a transposed convolution's input is added to what is there") {
  ConvAttributes conv = conv_of(16, 3);
  conv.stride = {2, 2};
  const auto op = std::make_shared<ConvTransposeOp>(ConvTransposeAttributes{.conv = conv});
  each_block(adding(op, {2, 32, 5, 4}), [](const NodeCase& node) { check_adds(node, 9 * 16); });
}

TEST_CASE("the gradients of batch norm and of dense layers are added apart") {
  each_block(adding(std::make_shared<BnOp>(BnAttributes{}), {4, 16, 5, 3}),
             [](const NodeCase& node) { check_adds(node, 4 * 5 * 3); });
  const auto dense = std::make_shared<DenseOp>(DenseAttributes{.units = 9});
  check_adds(adding(dense, {5, 17}), 9);
}
