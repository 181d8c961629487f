// Winograd convolutions against plain loops in double, and how they are chosen.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "base/parallel.h"
#include "compute/conv/conv_step.h"
#include "compute/devices/cpu_executors.h"
#include "formats/json.h"
#include "node_run.h"
#include "ops/convolution.h"
#include "rounding_model.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Winograd = CpuExecutorSettings::Winograd;
struct Form {
  Winograd asked;
  winograd::Tile tile;
};
constexpr Form kForms[] = {{Winograd::two, winograd::Tile::two},
                           {Winograd::four_by_two, winograd::Tile::four_by_two},
                           {Winograd::four, winograd::Tile::four}};

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

void check_within(const Deviation& deviation, const Deviation& bound) {
  CHECK(deviation.mean_square <= bound.mean_square);
  CHECK(deviation.largest <= bound.largest);
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

/// What is expected of a pass: its errors by its sums.
Deviation bound_of(winograd::Tile tile, const NodeCase& node, Pass pass) {
  const ConvStep conv = conv_step(step_of(node, pass));
  const auto& [n, c, in_h, in_w] = conv.maps.input.extent;
  const auto& [n_out, c_out, out_h, out_w] = conv.maps.output.extent;
  const Margins& m = conv.margins;
  if (pass == Pass::backward_data) {
    return winograd_rounding(tile, {out_h, in_h, 2 - m.top}, {out_w, in_w, 2 - m.left},
                             conv.filters());
  }
  return winograd_rounding(tile, {in_h, out_h, m.top}, {in_w, out_w, m.left}, conv.channels());
}

void check_winograd(const NodeCase& node) {
  CAPTURE(node.input.text());
  CAPTURE(node.op->attributes());
  CAPTURE(node.input_block);
  const NodeResults exact = exact_results(node);
  for (const auto& [asked, tile] : kForms) {
    CAPTURE(static_cast<int>(asked));
    const auto executors = make_cpu_executors({.winograd = asked});
    const NodeResults results = repeated_run<float>(*executors, node);
    const Deviation forward = bound_of(tile, node, Pass::forward_train);
    check_within(deviation_of(results.train, exact.train), forward);
    check_within(deviation_of(results.eval, exact.eval), forward);
    check_within(deviation_of(results.input_gradient, exact.input_gradient),
                 bound_of(tile, node, Pass::backward_data));
  }
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
    check_winograd(conv_node(7, {2, 5, 7, 7}, pixels(1, 1), block));
    check_winograd(conv_node(40, {3, 24, 9, 5}, pixels(0, 0), block));
    check_winograd(conv_node(17, {1, 33, 6, 13}, pixels(2, 0), block));
    check_winograd(conv_node(16, {5, 16, 8, 8}, {.kind = Padding::Kind::same_upper}, block));
    check_winograd(conv_node(8, {2, 8, 1, 1}, pixels(1, 1), block));
    check_winograd(conv_node(48, {2, 16, 3, 3}, pixels(0, 0), block));
    check_winograd(conv_node(16, {1, 16, 4, 35}, pixels(1, 2), block));
  }
}

// By rounding_model.h, of direct sums in chains of 144 products, which oneDNN adds with AVX-512;
// with AVX2 its chains are longer.
TEST_CASE("errors of Winograd convolutions are a small multiple of those of the direct form") {
  struct Multiple {
    Winograd asked;
    std::int64_t channels;
    double most;
  };
  for (const auto& [asked, channels, most] :
       {Multiple{Winograd::two, 16, 1.1}, Multiple{Winograd::two, 256, 1.1},
        Multiple{Winograd::four_by_two, 64, 1.7}, Multiple{Winograd::four_by_two, 256, 1.9},
        Multiple{Winograd::four, 64, 3.2}}) {
    CAPTURE(channels);
    const NodeCase node =
        conv_node(channels, {2, channels, 10, 10}, pixels(1, 1), blocks_here().back());
    check_winograd(node);
    const NodeResults exact = exact_results(node);
    const NodeResults direct = run_node<float>(*make_cpu_executors(), node);
    const NodeResults results = run_node<float>(*make_cpu_executors({.winograd = asked}), node);
    const auto errors = [&](const NodeResults& of) {
      return std::array{deviation_of(of.train, exact.train).mean_square,
                        deviation_of(of.input_gradient, exact.input_gradient).mean_square};
    };
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(errors(results)[i] <= most * errors(direct)[i]);
    }
  }
}

TEST_CASE("Winograd convolutions read and write channel slices of wider tensors") {
  NodeCase node = conv_node(32, {2, 16, 9, 6}, pixels(1, 1), 8);
  node.slice_first = 16;
  node.slice_extra = 32;
  check_winograd(node);
}

TEST_CASE("a ReLU that is part of a Winograd convolution cuts its outputs at 0, and leaves NaN") {
  for (const std::int64_t block : blocks_here()) {
    for (const Form& form : kForms) {
      CHECK(relu_cuts_alone(*make_cpu_executors({.winograd = form.asked}),
                            conv_node(17, {2, 24, 11, 10}, pixels(1, 1), block)));
    }
  }
}

TEST_CASE("Winograd convolutions have the same bits on any number of threads and for any vectors") {
  NodeCase node = conv_node(40, {5, 24, 11, 10}, pixels(1, 1), 8);
  for (const Form& form : kForms) {
    const auto executors = make_cpu_executors({.winograd = form.asked});
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

TEST_CASE("a form is accurate by the channels that are summed") {
  const auto executors = make_cpu_executors({.winograd = Winograd::fewest});
  const std::int64_t block = blocks_here().back();
  const auto name = [&](std::int64_t channels, std::int64_t filters, Pass pass) {
    return algorithm_of(*executors, conv_node(filters, {2, channels, 8, 8}, pixels(1, 1), block),
                        pass);
  };
  CHECK(name(15, 64, Pass::forward_train).starts_with("oneDNN"));
  CHECK(name(15, 64, Pass::backward_data) == "Winograd F(4x2, 3x3)");
  CHECK(name(16, 15, Pass::forward_eval) == "Winograd F(2x2, 3x3)");
  CHECK(name(16, 15, Pass::backward_data).starts_with("oneDNN"));
  CHECK(name(63, 64, Pass::forward_train) == "Winograd F(2x2, 3x3)");
  CHECK(name(512, 8, Pass::forward_train) == "Winograd F(4x2, 3x3)");
}

TEST_CASE("all forms are timed where speed is asked for, as another choice") {
  const auto fast = make_cpu_executors({.winograd = Winograd::fast});
  const std::string name = algorithm_of(*fast, large_node());
  const Json chosen = Json::parse(fast->choices());
  const std::string key = "cpu: 3x3 output, 64x8x8 to 64x8x8, margins 1 1 1 1, any form";
  REQUIRE(chosen.contains(key));
  CHECK((chosen[key]["engine"] == Json("direct")) == name.starts_with("oneDNN"));
  Json record = chosen;
  record[key]["engine"] = "F(4x4, 3x3)";
  const auto resumed = make_cpu_executors({.winograd = Winograd::fast, .engines = record.dump()});
  CHECK(algorithm_of(*resumed, large_node()) == "Winograd F(4x4, 3x3)");
}

TEST_CASE("a layer's engine is timed, stated, and known to later runs and to resumed ones") {
  const testing::TemporaryFolder folder;
  const NodeCase node = large_node();
  const std::string key = "cpu: 3x3 output, 64x8x8 to 64x8x8, margins 1 1 1 1";
  int ticks = 0;
  const auto timed = make_cpu_executors(
      {.winograd = Winograd::accurate, .engine_folder = folder.path(), .tick = [&] { ++ticks; }});
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
      make_cpu_executors({.winograd = Winograd::accurate, .engine_folder = folder.path()});
  CHECK(algorithm_of(*later, node) == "Winograd F(2x2, 3x3)");
  stored["choices"][key]["engine"] = "F(4x4, 3x3)";  // not accurate: timed again
  testing::put_text(file, stored.dump());
  const auto again =
      make_cpu_executors({.winograd = Winograd::accurate, .engine_folder = folder.path()});
  CHECK(algorithm_of(*again, node) != "Winograd F(4x4, 3x3)");

  Json record = chosen;
  record[key]["engine"] = "F(4x4, 3x3)";
  record["conv of a GPU"] = {{"engine", 5}};
  const auto resumed = make_cpu_executors(
      {.winograd = Winograd::accurate, .engine_folder = folder.path(), .engines = record.dump()});
  CHECK(algorithm_of(*resumed, node) == "Winograd F(4x4, 3x3)");
  CHECK(Json::parse(resumed->choices())[key]["engine"] == Json("F(4x4, 3x3)"));
}

TEST_CASE("batch and threads are no part of a choice, and small layers have none") {
  const auto executors = make_cpu_executors({.winograd = Winograd::accurate});
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
  CpuExecutorSettings settings{.winograd = Winograd::accurate,
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
    return error_of({.winograd = Winograd::accurate, .engines = engines}, large_node(),
                    ErrorKind::data);
  };
  CHECK(error("[]") == "the engines of the earlier run: not an object");
  const std::string unknown = Json{{"cpu: a", {{"engine", "F(6x6, 3x3)"}}}}.dump();
  CHECK(error(unknown) ==
        "the engines of the earlier run: an engine's 'engine' is not as expected: 'direct', "
        "'F(2x2, 3x3)', 'F(4x2, 3x3)' or 'F(4x4, 3x3)'");
}
