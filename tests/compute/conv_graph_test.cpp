// Operation graphs of convolutions through the real cuDNN, without a device: every convolution of
// the shipped networks, and unusual ones, at every precision and in all three passes, has an engine
// that a run permits on the GPUs of device_profiles.h.
#include "compute/conv/cudnn/conv_graph.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/shared_library.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/conv/cudnn/step_workspace.h"
#include "config/load.h"
#include "device_profiles.h"
#include "graph/build.h"
#include "graph/include.h"
#include "ops/convolution.h"
#include "plan/passes.h"
#include "plan/target.h"

using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

constexpr Pass kPasses[] = {Pass::forward_train, Pass::backward_data, Pass::backward_parameters};
constexpr Precision kPrecisions[] = {Precision::fp32, Precision::tf32, Precision::bf16,
                                     Precision::fp16};

/// For doctest::skip(no_cudnn()): such cases are counted as skipped if cuDNN is not installed.
bool no_cudnn() {
  static const bool none = !SharedLibrary(TY_CUDNN_LIBRARY).is_open();
  return none;
}

const Library& library() {
  static const Library opened(TY_CUDNN_LIBRARY);
  return opened;
}

StepDescription step_of(const Op& op, Pass pass, Precision precision, const Layout& input,
                        const Layout& output) {
  return {.op = &op,
          .pass = pass,
          .storage = storage_of(precision),
          .tf32 = precision == Precision::tf32,
          .inputs = {input},
          .outputs = {output}};
}

const std::vector<DescriptorPtr>& devices() {
  static const std::vector<DescriptorPtr> all = [] {
    std::vector<DescriptorPtr> list;
    for (const auto& profile : testing::kDeviceProfiles) {
      list.push_back(testing::device_properties(library(), profile));
    }
    return list;
  }();
  return all;
}

/// The rules of a deterministic run.
EnginePolicy rules_for(const StepDescription& step) {
  const ConvOffsets offsets = conv_offsets(step, cuda_target(Precision::fp32).workspace_cap);
  return {.deterministic = true,
          .f32 = step.storage == DType::f32,
          .tf32 = step.tf32,
          .workspace_cap = static_cast<std::int64_t>(offsets.workspace.left())};
}

/// Every GPU has an engine for the graph that a deterministic run permits.
void check_engines(const StepDescription& step, const ConvGraph& graph) {
  CAPTURE(text_of(graph));
  CAPTURE(step.tf32);
  try {
    const DescriptorPtr operations = make_operation_graph(library(), graph);
    for (const DescriptorPtr& device : devices()) {
      CAPTURE(device->what());
      RefusalCount refused;
      const auto plans = find_plans({.operation_graph = operations,
                                     .device = device,
                                     .adds_bias = graph.adds_bias,
                                     .rules = rules_for(step)},
                                    refused);
      CAPTURE(refused.text());
      CHECK(plans.size() == 1);
    }
  } catch (const Error& error) {
    FAIL_CHECK(error.what());
  }
}

/// The graphs of the three passes, each checked once.
void check_passes(const Op& op, Precision precision, const Layout& input, const Layout& output,
                  std::set<std::string>& seen) {
  for (const Pass pass : kPasses) {
    const StepDescription step = step_of(op, pass, precision, input, output);
    const ConvGraph graph = conv_graph(step);
    if (seen.insert(text_of(graph)).second) check_engines(step, graph);
  }
}

void check_conv(const Op& op, const Shape& input) {
  const Shape output = op.infer(std::span(&input, 1)).outputs[0];
  for (const Precision precision : kPrecisions) {
    const Target target = cuda_target(precision);
    std::set<std::string> seen;
    check_passes(op, precision, target.map_layout(input), target.map_layout(output), seen);
  }
}

void check_conv(const ConvAttributes& attributes, const Shape& input) {
  check_conv(ConvOp(attributes), input);
}

/// Every convolution of a network as the CUDA plan lays it out, equal ones once; returns how many
/// there are.
int check_network(const Graph& graph, Precision precision) {
  const LaidOutGraph laid_out = assign_layouts(graph, cuda_target(precision));
  std::set<std::string> seen;
  int convolutions = 0;
  for (const Node& node : laid_out.graph.nodes) {
    if (dynamic_cast<const ConvolutionOp*>(node.op.get()) == nullptr) continue;
    ++convolutions;
    CAPTURE(node.path);
    check_passes(*node.op, precision, laid_out.layouts[node.inputs[0]],
                 laid_out.layouts[node.outputs[0]], seen);
  }
  return convolutions;
}

ConvAttributes conv(std::int64_t filters, std::int64_t kernel, Padding::Kind padding) {
  ConvAttributes attributes;
  attributes.filters = filters;
  attributes.kernel = {kernel, kernel};
  attributes.pad.kind = padding;
  return attributes;
}

/// cuDNN's reason for refusing the graph.
std::string refusal_of(const ConvGraph& graph) {
  try {
    static_cast<void>(make_operation_graph(library(), graph));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the library that the build found is no older than its headers" *
          doctest::skip(no_cudnn())) {
  CHECK(library().call().version() >= CUDNN_VERSION);
  CHECK(library().version().starts_with("9."));
}

TEST_CASE("every convolution of the shipped networks has an engine on every GPU" *
          doctest::skip(no_cudnn())) {
  int networks = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TY_SOURCE_DIR) + "/models")) {
    if (!entry.is_regular_file() || entry.path().filename() == "blocks.yaml") continue;
    CAPTURE(entry.path().string());
    const Graph graph = build_graph(load_network(entry.path()), {.batch = 128});
    int convolutions = 0;
    for (const Precision precision : kPrecisions) convolutions += check_network(graph, precision);
    if (convolutions > 0) ++networks;  // recurrent ones have none
  }
  CHECK(networks >= 10);
}

TEST_CASE("engines that add a bias read it in the type of a 16-bit output" *
          doctest::skip(no_cudnn())) {
  const ConvOp op(conv(64, 3, Padding::Kind::same_upper));
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const Layout layout = cuda_target(precision).map_layout({128, 64, 16, 16});
    const auto step = step_of(op, Pass::forward_train, precision, layout, layout);
    check_engines(step, with_bias(conv_graph(step)));
  }
}

TEST_CASE("the engines of a data gradient add it to another one as well" *
          doctest::skip(no_cudnn())) {
  const ConvOp op(conv(64, 3, Padding::Kind::same_upper));
  for (const Precision precision : kPrecisions) {
    const Layout layout = cuda_target(precision).map_layout({128, 64, 8, 8});
    StepDescription step = step_of(op, Pass::backward_data, precision, layout, layout);
    std::vector<std::vector<std::int64_t>> engines;
    for (const bool adds : {false, true}) {
      step.form.adds_gradient = adds;
      const ConvGraph graph = conv_graph(step);
      CHECK(graph.adds_result == adds);
      RefusalCount refused;
      std::vector<std::int64_t>& list = engines.emplace_back();
      for (const EnginePlan& plan :
           find_plans({.operation_graph = make_operation_graph(library(), graph),
           .device = devices()[0],
           .adds_result = adds,
           .rules = rules_for(step),
           .most = 8},
                      refused)) {
        CHECK(plan.choice.adds_result == adds);
        list.push_back(plan.choice.engine);
      }
    }
    CHECK(engines[0].size() > 1);
    CHECK(engines[0] == engines[1]);
  }
}

TEST_CASE("grouped and depthwise convolutions have engines" * doctest::skip(no_cudnn())) {
  ConvAttributes grouped = conv(128, 3, Padding::Kind::same_upper);
  grouped.groups = 32;
  check_conv(grouped, {16, 128, 14, 14});
  grouped.stride = {2, 2};
  check_conv(grouped, {16, 128, 14, 14});
  ConvAttributes depthwise = conv(32, 3, Padding::Kind::same_upper);
  depthwise.groups = 32;
  check_conv(depthwise, {16, 32, 14, 14});
}

TEST_CASE("groups whose channels end in padding have engines" * doctest::skip(no_cudnn())) {
  ConvAttributes grouped = conv(6, 3, Padding::Kind::same_upper);
  grouped.groups = 2;
  check_conv(grouped, {2, 4, 5, 6});
  grouped = conv(10, 3, Padding::Kind::same_upper);
  grouped.groups = 5;
  check_conv(grouped, {2, 5, 4, 4});
}

TEST_CASE("transposed convolutions have engines") {
  ConvTransposeAttributes twice{.conv = conv(32, 4, Padding::Kind::pixels)};
  twice.conv.stride = {2, 2};
  twice.conv.pad.amount = {1, 1};
  check_conv(ConvTransposeOp(twice), {8, 64, 16, 16});
  twice.conv.kernel = {3, 3};
  twice.output_pad = {1, 1};
  check_conv(ConvTransposeOp(twice), {8, 64, 16, 16});
  twice.conv = conv(3, 3, Padding::Kind::same_upper);
  twice.conv.stride = {2, 2};
  twice.output_pad = {0, 0};
  check_conv(ConvTransposeOp(twice), {8, 20, 9, 7});
  twice.conv.groups = 3;
  check_conv(ConvTransposeOp(twice), {8, 6, 9, 7});
}

TEST_CASE("a transposed convolution's passes are those of its convolution, exchanged") {
  ConvTransposeAttributes twice{.conv = conv(13, 4, Padding::Kind::pixels)};
  twice.conv.stride = {2, 2};
  twice.conv.pad.amount = {1, 1};
  const ConvTransposeOp op(twice);
  const Target target = cuda_target(Precision::bf16);
  const Layout small = target.map_layout({2, 3, 8, 8}), large = target.map_layout({2, 13, 16, 16});
  using Computes = ConvGraph::Computes;
  const std::pair<Pass, Computes> expected[] = {
      {Pass::forward_train, Computes::input_gradient},
      {Pass::backward_data, Computes::output},
      {Pass::backward_parameters, Computes::weight_gradient}};
  for (const auto& [pass, computes] : expected) {
    const StepDescription step = step_of(op, pass, Precision::bf16, small, large);
    const ConvGraph graph = conv_graph(step);
    CHECK(graph.computes == computes);
    CHECK(graph.input.extents == std::array<std::int64_t, 4>{2, 16, 16, 16});
    CHECK(graph.output.extents == std::array<std::int64_t, 4>{2, 8, 8, 8});
    CHECK(graph.weight.extents == std::array<std::int64_t, 4>{8, 16, 4, 4});
  }
}

TEST_CASE("dilated, strided and unequal windows have engines" * doctest::skip(no_cudnn())) {
  ConvAttributes dilated = conv(64, 3, Padding::Kind::same_upper);
  dilated.dilation = {2, 2};
  check_conv(dilated, {8, 64, 16, 16});
  ConvAttributes projection = conv(128, 1, Padding::Kind::valid);
  projection.stride = {2, 2};
  check_conv(projection, {8, 64, 28, 28});
  ConvAttributes odd = conv(16, 3, Padding::Kind::pixels);
  odd.kernel = {2, 5};
  odd.stride = {1, 3};
  odd.dilation = {3, 1};
  odd.pad.amount = {1, 2};
  check_conv(odd, {2, 16, 8, 9});
}

TEST_CASE("different padding on the two sides has engines" * doctest::skip(no_cudnn())) {
  for (const Padding::Kind kind : {Padding::Kind::same_upper, Padding::Kind::same_lower}) {
    ConvAttributes strided = conv(32, 3, kind);
    strided.stride = {2, 2};
    check_conv(strided, {8, 16, 32, 32});
    check_conv(conv(32, 2, kind), {8, 16, 9, 9});
  }
}

TEST_CASE("channels that fill no vector, and the smallest sizes, have engines" *
          doctest::skip(no_cudnn())) {
  check_conv(conv(16, 3, Padding::Kind::same_upper), {128, 3, 32, 32});
  check_conv(conv(13, 3, Padding::Kind::valid), {2, 10, 5, 6});
  check_conv(conv(1, 1, Padding::Kind::valid), {1, 1, 1, 1});
  ConvAttributes stem = conv(64, 7, Padding::Kind::same_symmetric);
  stem.stride = {2, 2};
  check_conv(stem, {4, 3, 224, 224});
}

TEST_CASE("a graph states padding before and after, and pads channels only with zeros") {
  ConvAttributes strided = conv(13, 3, Padding::Kind::same_upper);
  strided.stride = {2, 2};
  const ConvOp op(strided);
  const Target target = cuda_target(Precision::bf16);
  const auto graph =
      conv_graph(step_of(op, Pass::forward_train, Precision::bf16, target.map_layout({2, 3, 8, 8}),
                         target.map_layout({2, 13, 4, 4})));
  CHECK(graph.before == std::array<std::int64_t, 2>{0, 0});
  CHECK(graph.after == std::array<std::int64_t, 2>{1, 1});
  CHECK(graph.input.extents == std::array<std::int64_t, 4>{2, 8, 8, 8});
  CHECK(graph.weight.extents == std::array<std::int64_t, 4>{16, 8, 3, 3});
  CHECK(graph.weight.strides == std::array<std::int64_t, 4>{72, 1, 24, 8});
  CHECK(text_of(with_bias(graph)) ==
        "conv output with bias: input bf16 [2, 8, 8, 8] strides [512, 1, 64, 8], weight bf16 "
        "[16, 8, 3, 3] strides [72, 1, 24, 8], output bf16 [2, 16, 4, 4] strides [256, 1, 64, 16], "
        "padding [0, 0] [1, 1], stride [2, 2], dilation [1, 1]");
}

TEST_CASE("graphs that compute different things have different texts") {
  const ConvOp op(conv(16, 3, Padding::Kind::same_upper));
  std::set<std::string> texts;
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
    for (const Pass pass : kPasses) {
      const Layout layout = channels_last_layout({2, 16, 8, 8}, 8);
      StepDescription step = step_of(op, pass, precision, layout, layout);
      texts.insert(text_of(conv_graph(step)));
      step.form.adds_gradient = pass == Pass::backward_data;
      texts.insert(text_of(conv_graph(step)));
    }
  }
  CHECK(texts.size() == 12);
}

TEST_CASE("inconsistent shapes are refused with the graph and cuDNN's reason" *
          doctest::skip(no_cudnn())) {
  const ConvOp op(conv(16, 3, Padding::Kind::same_upper));
  const Layout layout = channels_last_layout({2, 16, 8, 8}, 8);
  const ConvGraph good =
      conv_graph(step_of(op, Pass::forward_train, Precision::bf16, layout, layout));
  CHECK(refusal_of(good) == "");
  ConvGraph channels = good;
  channels.weight.extents[1] = 12;
  CHECK(refusal_of(channels).starts_with("cuDNN: conv output: input bf16 [2, 16, 8, 8]"));
  CHECK(refusal_of(channels).find("CUDNN_STATUS_BAD_PARAM") != std::string::npos);
  CHECK(refusal_of(channels).find("(") != std::string::npos);
  ConvGraph height = good;
  height.output.extents[2] = 9;
  CHECK(refusal_of(height).find("is_valid_spatial_dim") != std::string::npos);
}

TEST_CASE("a missing library is refused with its path") {
  CHECK_THROWS_WITH_AS(Library("/nowhere/libcudnn.so.9"),
                       doctest::Contains("cuDNN cannot be opened: /nowhere/libcudnn.so.9"), Error);
}
