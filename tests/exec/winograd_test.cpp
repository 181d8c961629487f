// Winograd convolutions against plain loops in double, and how they are chosen.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "base/parallel.h"
#include "exec/cpu_executors.h"
#include "formats/json.h"
#include "node_run.h"
#include "ops/conv.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Winograd = CpuExecutorSettings::Winograd;
constexpr Winograd kSizes[] = {Winograd::two, Winograd::four};

std::vector<std::int64_t> blocks_here() {
  if (processor_has_avx512()) return {8, 16};
  return {8};
}

NodeCase conv_node(std::int64_t filters, const Shape& input, Padding padding, std::int64_t block) {
  ConvAttributes conv;
  conv.filters = filters;
  conv.kernel = {3, 3};
  conv.pad = padding;
  NodeCase node;
  node.op = std::make_shared<ConvOp>(conv);
  node.input = input;
  node.input_block = node.output_block = block;
  return node;
}

Padding pixels(std::int64_t h, std::int64_t w) {
  return {.kind = Padding::Kind::pixels, .amount = {h, w}};
}

NodeResults exact_results(NodeCase node) {
  node.input_block = node.output_block = 1;
  node.slice_first = node.slice_extra = 0;
  return run_node<double>(*make_reference_executors(), node);
}

/// Of `actual`, in units of 2^-24 of the root mean square of `exact`.
struct Deviation {
  double mean_square = 0, largest = 0;
};
Deviation deviation_of(const std::vector<double>& actual, const std::vector<double>& exact) {
  REQUIRE(actual.size() == exact.size());
  double squares = 0, errors = 0, largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(actual[i] - exact[i]);
    squares += exact[i] * exact[i];
    errors += error * error;
    largest = std::isnan(error) ? error : std::max(largest, error);
  }
  const double unit = std::sqrt(squares / static_cast<double>(exact.size())) / (1 << 24);
  return {.mean_square = std::sqrt(errors / static_cast<double>(exact.size())) / unit,
          .largest = largest / unit};
}

/// Of sums over `channels` * 9 products: roundings add up like a random walk, over a part that the
/// transforms contribute. The direct form has about 2 + 0.5 sqrt(channels) in the mean.
Deviation bound_of(Winograd size, std::int64_t channels) {
  const double root = std::sqrt(static_cast<double>(channels));
  const double mean = size == Winograd::two ? 3 + 0.7 * root : 6 + 1.6 * root;
  return {.mean_square = mean, .largest = 9 * mean};
}

void check_within(const std::vector<double>& actual, const std::vector<double>& exact,
                  Winograd size, std::int64_t channels) {
  const Deviation deviation = deviation_of(actual, exact);
  const Deviation bound = bound_of(size, channels);
  CHECK(deviation.mean_square <= bound.mean_square);
  CHECK(deviation.largest <= bound.largest);
}

void check_winograd(const NodeCase& node, std::int64_t filters) {
  CAPTURE(node.input.text());
  CAPTURE(node.op->attributes());
  CAPTURE(node.input_block);
  const NodeResults exact = exact_results(node);
  for (const Winograd size : kSizes) {
    CAPTURE(static_cast<int>(size));
    const auto executors = make_cpu_executors({.winograd = size});
    NodeResults first = run_node<float>(*executors, node);
    first.allocations = 0;  // oneDNN's, of the gradient of the weights
    const NodeResults results = run_node<float>(*executors, node);
    CHECK(results == first);
    CHECK(results.guards_intact);
    CHECK(results.padding_zero);
    CHECK(results.allocations == 0);
    check_within(results.train, exact.train, size, node.input.c());
    check_within(results.eval, exact.eval, size, node.input.c());
    check_within(results.input_gradient, exact.input_gradient, size, filters);
  }
}

StepDescription step_of(const NodeCase& node, Pass pass) {
  const Signature signature = node.op->infer(std::array{node.input});
  return {.op = node.op.get(),
          .pass = pass,
          .signature = signature,
          .inputs = {blocked_layout(node.input, node.input_block)},
          .outputs = {blocked_layout(signature.outputs[0], node.output_block)},
          .needs_input_gradient = {true},
          .threads = node.threads};
}

std::string algorithm_of(const ExecutorFactory& executors, const NodeCase& node,
                         Pass pass = Pass::forward_train) {
  return executors.make(step_of(node, pass))->algorithm().name;
}

/// A layer that has enough arithmetic for a choice.
NodeCase large_node() { return conv_node(64, {2, 64, 8, 8}, pixels(1, 1), blocks_here().back()); }

std::string error_of(CpuExecutorSettings settings, const NodeCase& node, ErrorKind kind) {
  try {
    static_cast<void>(
        make_cpu_executors(std::move(settings))->make(step_of(node, Pass::forward_train)));
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Winograd convolutions of any size and margin agree with plain loops in double") {
  for (const std::int64_t block : blocks_here()) {
    check_winograd(conv_node(7, {2, 5, 7, 7}, pixels(1, 1), block), 7);
    check_winograd(conv_node(40, {3, 24, 9, 5}, pixels(0, 0), block), 40);
    check_winograd(conv_node(17, {1, 33, 6, 13}, pixels(2, 0), block), 17);
    check_winograd(conv_node(16, {5, 16, 8, 8}, {.kind = Padding::Kind::same_upper}, block), 16);
    check_winograd(conv_node(8, {2, 8, 1, 1}, pixels(1, 1), block), 8);
    check_winograd(conv_node(48, {2, 16, 3, 3}, pixels(0, 0), block), 48);
    check_winograd(conv_node(16, {1, 16, 4, 35}, pixels(1, 2), block), 16);
  }
}

TEST_CASE("the error of a Winograd convolution grows with the root of the channels") {
  for (const std::int64_t channels : {16, 64, 256}) {
    check_winograd(conv_node(channels, {2, channels, 12, 12}, pixels(1, 1), blocks_here().back()),
                   channels);
  }
}

TEST_CASE("Winograd convolutions read and write channel slices of wider tensors") {
  NodeCase node = conv_node(32, {2, 16, 9, 6}, pixels(1, 1), 8);
  node.slice_first = 16;
  node.slice_extra = 32;
  check_winograd(node, 32);
}

TEST_CASE("Winograd convolutions have the same bits on any number of threads and for any vectors") {
  NodeCase node = conv_node(40, {5, 24, 11, 10}, pixels(1, 1), 8);
  for (const Winograd size : kSizes) {
    const auto executors = make_cpu_executors({.winograd = size});
    node.threads = 1;
    const NodeResults one = run_node<float>(*executors, node);
    for (const std::int64_t block : blocks_here()) {
      node.input_block = node.output_block = block;
      for (node.threads = 1; node.threads <= 4; ++node.threads) {
        const NodeResults results = run_node<float>(*executors, node);
        CHECK(results.train == one.train);
        CHECK(results.eval == one.eval);
        CHECK(results.input_gradient == one.input_gradient);
      }
    }
  }
}

TEST_CASE("only what Winograd kernels support is computed by them") {
  const auto executors = make_cpu_executors({.winograd = Winograd::four});
  const std::int64_t block = blocks_here().back();
  const NodeCase node = conv_node(16, {2, 16, 8, 8}, pixels(1, 1), block);
  CHECK(algorithm_of(*executors, node) == "Winograd F(4x4, 3x3)");
  CHECK(algorithm_of(*executors, node, Pass::backward_data) == "Winograd F(4x4, 3x3)");
  CHECK(executors->make(step_of(node, Pass::forward_eval))->algorithm().operations == 0.25);
  NodeCase plain = node;
  plain.input_block = 1;
  ConvAttributes strided;
  strided.filters = 16;
  strided.kernel = {3, 3};
  strided.stride = {2, 2};
  NodeCase with_stride = node;
  with_stride.op = std::make_shared<ConvOp>(strided);
  for (const NodeCase& other :
       {plain, with_stride, conv_node(16, {2, 16, 8, 8}, pixels(3, 3), block)}) {
    CHECK(algorithm_of(*executors, other).starts_with("oneDNN"));
  }
  CHECK(algorithm_of(*make_cpu_executors(), node).starts_with("oneDNN"));
}

TEST_CASE("a layer's engine is timed, stated, and known to later runs and to resumed ones") {
  const testing::TemporaryFolder folder;
  const NodeCase node = large_node();
  const std::string key = "cpu: 3x3 output, 64x8x8 to 64x8x8, margins 1 1 1 1";
  int ticks = 0;
  const auto timed = make_cpu_executors(
      {.winograd = Winograd::timed, .engine_folder = folder.path(), .tick = [&] { ++ticks; }});
  const std::string name = algorithm_of(*timed, node);
  CHECK(ticks == 1);
  CHECK(algorithm_of(*timed, node) == name);
  CHECK(ticks == 1);
  const Json chosen = Json::parse(timed->choices());
  REQUIRE(chosen.contains(key));
  CHECK((chosen[key]["engine"] == Json("direct")) == name.starts_with("oneDNN"));

  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) file = entry.path();
  Json stored = Json::parse(testing::text_of(file));
  stored["choices"][key]["engine"] = "F(2x2, 3x3)";
  testing::put_text(file, stored.dump());
  const auto later =
      make_cpu_executors({.winograd = Winograd::timed, .engine_folder = folder.path()});
  CHECK(algorithm_of(*later, node) == "Winograd F(2x2, 3x3)");

  Json record = chosen;
  record[key]["engine"] = "F(4x4, 3x3)";
  record["conv of a GPU"] = {{"engine", 5}};
  const auto resumed = make_cpu_executors(
      {.winograd = Winograd::timed, .engine_folder = folder.path(), .engines = record.dump()});
  CHECK(algorithm_of(*resumed, node) == "Winograd F(4x4, 3x3)");
  CHECK(Json::parse(resumed->choices())[key]["engine"] == Json("F(4x4, 3x3)"));
}

TEST_CASE("batch and threads are no part of a choice, and small layers have none") {
  const auto executors = make_cpu_executors({.winograd = Winograd::timed});
  NodeCase node = large_node();
  static_cast<void>(algorithm_of(*executors, node));
  const std::string chosen = executors->choices();
  node.input = {7, 64, 8, 8};
  node.threads = 1;
  static_cast<void>(algorithm_of(*executors, node, Pass::forward_eval));
  CHECK(executors->choices() == chosen);
  const NodeCase small = conv_node(16, {2, 16, 8, 8}, pixels(1, 1), blocks_here().back());
  CHECK(algorithm_of(*executors, small).starts_with("oneDNN"));
  CHECK(executors->choices() == chosen);
}

TEST_CASE("rank 0's engines are taken or refused, never chosen anew") {
  const std::string key = "cpu: 3x3 output, 64x8x8 to 64x8x8, margins 1 1 1 1";
  CpuExecutorSettings settings{.winograd = Winograd::timed,
                               .engines_of = CpuExecutorSettings::EngineSource::first_rank,
                               .engines = Json{{key, {{"engine", "F(2x2, 3x3)"}}}}.dump()};
  CHECK(algorithm_of(*make_cpu_executors(settings), large_node()) == "Winograd F(2x2, 3x3)");
  settings.engines = "{}";
  CHECK(error_of(settings, large_node(), ErrorKind::device) ==
        "rank 0 chose no engine for a convolution here (" + key +
            "); all ranks of a run need the same build of train");
}

TEST_CASE("choices of another form are refused") {
  const auto error = [](const std::string& engines) {
    return error_of({.winograd = Winograd::timed, .engines = engines}, large_node(),
                    ErrorKind::data);
  };
  CHECK(error("[]") == "the engines of the earlier run: not an object");
  const std::string unknown = Json{{"cpu: a", {{"engine", "F(6x6, 3x3)"}}}}.dump();
  CHECK(error(unknown) ==
        "the engines of the earlier run: an engine's 'engine' is not as expected: 'direct', "
        "'F(2x2, 3x3)' or 'F(4x4, 3x3)'");
}
