// Weight gradients by our kernels: values against plain loops in double, and bits that depend
// neither on threads nor on the width of vectors.
#include <doctest/doctest.h>

#include <set>

#include "compute/conv/weight_gradient/read_ahead.h"
#include "compute/conv/weight_gradient/weight_tiling.h"
#include "compute/devices/cpu_executors.h"
#include "node_run.h"
#include "ops/convolution.h"
#include "tensor/dtype.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Kernel {
  std::int64_t h, w;
};

ConvAttributes conv_of(std::int64_t filters, Kernel kernel, std::int64_t stride, std::int64_t pad) {
  ConvAttributes conv;
  conv.filters = filters;
  conv.kernel = {kernel.h, kernel.w};
  conv.stride = {stride, stride};
  conv.pad = {Padding::Kind::pixels, {pad, pad}};
  return conv;
}

NodeCase node_of(const ConvAttributes& conv, const Shape& input) {
  NodeCase node;
  node.op = std::make_shared<ConvOp>(conv);
  node.input = input;
  return node;
}

StepDescription step_of(const NodeCase& node) {
  StepDescription step;
  step.op = node.op.get();
  step.pass = Pass::backward_parameters;
  step.signature = node.op->infer(std::span(&node.input, 1));
  step.inputs = {node.input_block == 1 ? plain_layout(node.input)
                                       : blocked_layout(node.input, node.input_block)};
  const Shape& output = step.signature.outputs[0];
  step.outputs = {node.output_block == 1 ? plain_layout(output)
                                         : blocked_layout(output, node.output_block)};
  return step;
}

using Gradients = std::vector<std::vector<double>>;

template <class T>
std::vector<std::int64_t> blocks_of() {
  if (std::is_same_v<T, BFloat16>) return {16, 1};
  return {8, 16, 1};
}

/// Gradients of the parameters: the same with every vector width, number of threads, and plain
/// maps.
template <class T>
Gradients checked_gradients(NodeCase node, const std::vector<int>& all_threads) {
  const auto executors = make_cpu_executors();
  Gradients first;
  for (const std::int64_t block : blocks_of<T>()) {
    for (const std::int64_t input_block : {std::int64_t{1}, block}) {
      for (const int threads : all_threads) {
        CAPTURE(block);
        CAPTURE(input_block);
        CAPTURE(threads);
        node.input_block = input_block;
        node.output_block = block;
        node.threads = threads;
        const NodeResults results = run_node<T>(*executors, node);
        CHECK(results.guards_intact);
        if (first.empty()) first = results.parameter_gradients;
        CHECK(results.parameter_gradients == first);
      }
    }
  }
  return first;
}

/// bf16 against plain loops over the same rounded values.
template <class T>
void check(const ConvAttributes& conv, const Shape& input,
           const std::vector<int>& all_threads = {1, 3}) {
  const NodeCase node = node_of(conv, input);
  CAPTURE(node.op->attributes());
  CAPTURE(input.text());
  const Gradients actual = checked_gradients<T>(node, all_threads);
  using Exact = std::conditional_t<std::is_same_v<T, float>, double, T>;
  const Gradients expected = run_node<Exact>(*make_reference_executors(), node).parameter_gradients;
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CHECK(largest_difference(actual[i], expected[i]) <=
          tolerance(input.n() * input.h() * input.w()));
  }
}

template <class T>
void check_all_kernels() {
  for (const Kernel kernel : {Kernel{1, 1}, {3, 3}, {5, 5}, {7, 7}, {2, 4}, {3, 1}}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t pad : {0, 1, 2}) {
        check<T>(conv_of(24, kernel, stride, pad), {2, 16, 9, 10});
      }
    }
  }
}

template <class T>
void check_odd_channels() {
  check<T>(conv_of(13, {3, 3}, 1, 1), {1, 3, 9, 7});
  check<T>(conv_of(1, {3, 3}, 1, 1), {1, 1, 1, 1});
  check<T>(conv_of(70, {3, 3}, 2, 1), {3, 21, 7, 7});
  check<T>(conv_of(100, {1, 1}, 1, 0), {3, 37, 5, 5});
  check<T>(conv_of(16, {3, 3}, 3, 1), {2, 16, 10, 8});
  check<T>(conv_of(16, {5, 5}, 1, 2), {2, 3, 1, 2});  // maps smaller than the kernel
  ConvAttributes wide = conv_of(16, {3, 3}, 1, 3);
  wide.dilation = {3, 2};
  check<T>(wide, {2, 10, 11, 9});
  wide.bias = false;
  check<T>(wide, {2, 10, 11, 9});
}

template <class T>
void check_several_parts() {
  const ConvAttributes conv = conv_of(16, {3, 3}, 1, 1);
  const NodeCase node = node_of(conv, {12, 16, 29, 31});
  const direct::WeightOrder order = direct::weight_order(conv_step(step_of(node)));
  CHECK(order.parts > 2);
  CHECK(order.rows / order.parts > order.run);  // several runs, none of which ends with an image
  CHECK(order.run % 29 != 0);
  check<T>(conv, node.input, {1, 2, 3, 4, 7});
}

/// A thread takes several units of filters together, run by run.
template <class T>
void check_several_units() {
  const ConvAttributes conv = conv_of(100, {1, 1}, 1, 0);
  const NodeCase node = node_of(conv, {12, 40, 29, 31});
  const direct::WeightOrder order = direct::weight_order(conv_step(step_of(node)));
  CHECK(order.parts > 2);
  CHECK(order.rows / order.parts > order.run);
  check<T>(conv, node.input, {1, 2, 3, 4, 7});
}

template <class T>
void check_groups() {
  for (const std::int64_t groups : {2, 3, 8, 16, 48}) {
    ConvAttributes conv = conv_of(96, {3, 3}, 1, 1);
    conv.groups = groups;
    check<T>(conv, {2, 48, 6, 5});
    conv.kernel = {1, 1};
    check<T>(conv, {2, 96, 6, 5});
    conv.filters = groups * 3;
    check<T>(conv, {2, groups * 5, 4, 4});
  }
}

/// Elements of a map of `element_bytes` each, from `data` on, that `calls` calls on tiles of `rows`
/// rows prefetch.
std::set<std::int64_t> prefetched(direct::ReadAhead& ahead, std::int64_t calls, std::int64_t rows,
                                  const char* data, std::int64_t element_bytes) {
  std::set<std::int64_t> elements;
  for (std::int64_t call = 0; call < calls; ++call) {
    for (const direct::Ahead& piece : ahead.next()) {
      CHECK(piece.row_bytes % 64 == 0);
      const std::int64_t first = (piece.first - data) / element_bytes;
      for (std::int64_t i = 0; i < rows * piece.row_bytes / element_bytes; ++i) {
        elements.insert(first + i);
      }
    }
  }
  CHECK(ahead.next().empty());
  return elements;
}

}  // namespace

TEST_CASE("weight gradients of all kernels, strides and paddings agree with plain loops") {
  check_all_kernels<float>();
}

TEST_CASE("weight gradients of channels that fill no block agree with plain loops") {
  check_odd_channels<float>();
}

TEST_CASE("weight gradients of several parts and runs agree with plain loops") {
  check_several_parts<float>();
}

TEST_CASE("weight gradients of several units of filters agree with plain loops") {
  check_several_units<float>();
}

TEST_CASE("weight gradients of groups of any width agree with plain loops") {
  check_groups<float>();
}

TEST_CASE("weight gradients in bf16 agree with plain loops, with the same bits for any threads" *
          doctest::skip(!cpu_executors_have_bf16())) {
  check_all_kernels<BFloat16>();
  check_odd_channels<BFloat16>();
  check_several_parts<BFloat16>();
  check_several_units<BFloat16>();
  check_groups<BFloat16>();
}

TEST_CASE("the order of a weight gradient's sums follows from extents alone") {
  const ConvAttributes conv = conv_of(64, {3, 3}, 1, 1);
  NodeCase node = node_of(conv, {128, 64, 8, 8});
  node.input_block = node.output_block = 8;
  const direct::WeightOrder narrow = direct::weight_order(conv_step(step_of(node)));
  node.input_block = node.output_block = 16;
  const direct::WeightOrder wide = direct::weight_order(conv_step(step_of(node)));
  CHECK(narrow.rows == 1024);
  CHECK(narrow.parts == 16);
  CHECK(narrow.run == wide.run);
  CHECK(narrow.parts == wide.parts);
}

TEST_CASE("the memory of a run's rows and channels is prefetched in shares of the calls") {
  const Layout map = blocked_layout(Shape{5, 48, 4, 6}, 16);
  const std::vector<char> data(1 << 16);
  constexpr std::int64_t kRows = 3;
  for (const std::int64_t together : {1, 2}) {
    for (const std::int64_t calls : {1, 2, 7, 40}) {
      CAPTURE(together);
      CAPTURE(calls);
      direct::ReadAhead ahead;
      ahead.begin(calls, kRows);
      ahead.add({data.data(), map, 2, together}, {3, 10}, {16, 48});
      const auto elements = prefetched(ahead, calls, kRows, data.data(), 2);
      for (std::int64_t row = 3; row < 10; ++row) {
        for (std::int64_t i = 0; i < together && row / 4 * together + i < 5; ++i) {
          for (std::int64_t channel = 16; channel < 48; ++channel) {
            const std::int64_t first = map.offset(row / 4 * together + i, channel, row % 4, 0);
            CHECK(elements.contains(first));
            CHECK(elements.contains(first + 5 * 16));
          }
        }
      }
      CHECK_FALSE(elements.contains(map.offset(0, 0, 3, 0)));  // a channel that is not read
      CHECK_FALSE(elements.contains(map.offset(0, 16, 0, 0)));
    }
  }
}

TEST_CASE("nothing is prefetched of a map whose columns have gaps") {
  direct::ReadAhead ahead;
  ahead.begin(1, 1);
  ahead.add({nullptr, channels_last_layout(Shape{1, 8, 2, 2}, 8), 4, 1}, {0, 2}, {0, 8});
  CHECK(ahead.next().empty());
}
