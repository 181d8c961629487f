// Parameters and multiply-adds of the shipped networks. Sources: the published networks (counts of
// Keras's own summaries and of the papers), and for scripts/bench the counts of sum(p.numel() for p
// in model.parameters()) for the peer's networks in PyTorch.
#include <doctest/doctest.h>

#include <set>

#include "support.h"

namespace trainyard {
namespace {

struct Expected {
  std::int64_t trainable, total, multiply_adds;
};

void check_counts(const Graph& graph, const Expected& expected) {
  const GraphTotals sums = totals(graph);
  CHECK(sums.parameters_trainable == expected.trainable);
  CHECK(sums.parameters_total == expected.total);
  CHECK(sums.multiply_adds == expected.multiply_adds);
}

TEST_CASE("MiniGoogLeNet has 1,652,826 trainable of 1,656,250 parameters") {
  const Graph graph = test::build_file("models/minigooglenet.yaml");
  check_counts(graph, {1'652'826, 1'656'250, 234'597'920});
  CHECK(test::output_of(graph) == Shape{1, 10});
}

TEST_CASE("MiniGoogLeNet without batch norm has Zhang's 1,649,402 parameters") {
  const Graph graph = test::build_file("models/minigooglenet.yaml");
  std::int64_t without = 0;
  for (const Node& node : graph.nodes) {
    if (node.op->type() == "bn") continue;
    for (const ParameterSpec& parameter : node.signature.parameters) {
      without += parameter.shape.elements();
    }
  }
  CHECK(without == 1'649'402);
}

TEST_CASE(
    "MiniGoogLeNet with auxiliary classifiers adds to it what Szegedy's section 5 describes") {
  // On 4x4 maps of c channels: a 1x1 convolution to 128 with batch norm, dense 1024, dense 10.
  const auto trainable = [](std::int64_t c) {
    return c * 128 + 128 + 2 * 128 + 16 * 128 * 1024 + 1024 + 10'250;
  };
  const auto multiply_adds = [](std::int64_t c) { return 16 * c * 128 + 16 * 128 * 1024 + 10'240; };
  const std::int64_t added = trainable(112 + 48) + trainable(48 + 96);
  check_counts(test::build_file("models/minigooglenet_aux.yaml"),
               {1'652'826 + added, 1'656'250 + added + 4 * 128,
                234'597'920 + multiply_adds(160) + multiply_adds(144)});
}

TEST_CASE("Keras's ResNet v1 has the published counts at every depth") {
  const auto at = [](int n) {
    return test::build_file("models/resnet_cifar.yaml", "n: " + std::to_string(n));
  };
  check_counts(at(3), {273'066, 274'442, 40'813'184});
  check_counts(at(5), {467'946, 470'218, 69'124'736});
  check_counts(at(7), {662'826, 665'994, 97'436'288});
  check_counts(at(9), {857'706, 861'770, 125'747'840});
  check_counts(at(18), {1'734'666, 1'742'762, 253'149'824});
}

TEST_CASE("ResNet v1 with n = 18 has 109 convolutions on its main path and 2 on shortcuts") {
  const Graph graph = test::build_file("models/resnet_cifar.yaml", "n: 18");
  int main_path = 0, shortcuts = 0;
  for (const Node& node : graph.nodes) {
    if (node.op->type() != "conv") continue;
    node.path.find("add1.1.") == std::string::npos ? ++main_path : ++shortcuts;
  }
  CHECK(main_path == 109);
  CHECK(shortcuts == 2);
}

TEST_CASE("today's CIFAR networks and torchvision's have the published parameters") {
  const std::pair<std::pair<const char*, const char*>, std::int64_t> rows[] = {
      {{"he_resnet_cifar", "n: 3"}, 269'722},
      {{"he_resnet_cifar", "n: 9"}, 853'018},
      {{"he_resnet_cifar", "n: 18"}, 1'727'962},
      {{"wide_resnet_cifar", "n: 4"}, 36'479'194},
      {{"wide_resnet_cifar", "n: 6, k: 4"}, 8'949'210},
      {{"wide_resnet_cifar", "classes: 100"}, 36'536'884},
      {{"densenet_cifar", "n: 16"}, 769'162},
      {{"densenet_cifar", "n: 31, k: 40"}, 25'624'430},
      {{"resnet18_cifar", "classes: 10"}, 11'173'962},
      {{"vgg16_bn_cifar", "classes: 10"}, 14'728'266},
      {{"mobilenet_v2_cifar", "classes: 10"}, 2'236'682},
      {{"convmixer_cifar", "classes: 10"}, 594'186},
      {{"airbench94", "classes: 10"}, 1'971'640},
      {{"resnet_basic", "classes: 1000"}, 11'689'512},
      {{"resnet_basic",
        "stages: [{f: 64, n: 3, s: 1}, {f: 128, n: 4, s: 2}, {f: 256, n: 6, s: 2}, {f: 512, n: 3, "
        "s: 2}]"},
       21'797'672},
  };
  for (const auto& [network, parameters] : rows) {
    CAPTURE(network.first);
    CAPTURE(network.second);
    const Graph graph =
        test::build_file("models/" + std::string(network.first) + ".yaml", network.second);
    CHECK(totals(graph).parameters_trainable == parameters);
  }
}

TEST_CASE("Keras's CNN has 1,250,858 parameters") {
  // 32 * 32 * 32 * 27 + 30 * 30 * 32 * 288 + 15 * 15 * 64 * 288 + 13 * 13 * 64 * 576 + 2304 * 512 +
  // 5120 multiply-adds.
  check_counts(test::build_file("models/keras_cnn.yaml"), {1'250'858, 1'250'858, 20'741'120});
}

TEST_CASE("Keras's ResNet v2 has the counts of its depths 20, 29, 56 and 110") {
  const auto at = [](int n) {
    return test::build_file("models/resnet_v2_cifar.yaml", "n: " + std::to_string(n));
  };
  check_counts(at(2), {570'602, 574'090, 66'243'072});
  check_counts(at(3), {843'786, 849'002, 97'962'496});
  check_counts(at(6), {1'663'338, 1'673'738, 193'120'768});
  check_counts(at(12), {3'302'442, 3'323'210, 383'437'312});
}

TEST_CASE(
    "ResNet v2's first bottleneck has no batch norm before it, and every stage one shortcut") {
  const Graph graph = test::build_file("models/resnet_v2_cifar.yaml", "n: 2");
  const auto inputs_of = [&](const std::string& path) {
    const ValueId input = test::node_at(graph, path).inputs.at(0);
    return graph.nodes.at(static_cast<std::size_t>(graph.values.at(input).producer)).path;
  };
  CHECK(inputs_of("stage1.unit1.add1.1.brc1.conv1") == "relu1");
  CHECK(inputs_of("stage2.unit1.add1.1.brc1.conv1") == "stage2.unit1.add1.1.brc1.relu1");
  int shortcuts = 0;
  for (const std::string& path : test::paths(graph)) {
    if (path.ends_with("add1.0.conv1")) ++shortcuts;
  }
  CHECK(shortcuts == 3);
  CHECK(test::conv_at(graph, "stage3.unit1.add1.1.brc1.conv1").stride == config::Pair{2, 2});
}

TEST_CASE("ResNet-56 reads 256x256 images with 8x8 pooling, as in Keras-MXNet's benchmark") {
  const Graph graph =
      test::build_file("models/resnet_cifar.yaml", "n: 9, size: 256, pool: 8, classes: 1000");
  check_counts(graph, {4'954'056, 4'958'120, 8'051'916'800});
}

TEST_CASE("MXNet's ResNeXt-110 has no groups, 1,730,973 parameters and a beta on the data") {
  const Graph graph = test::build_file("models/mxnet_resnext110.yaml");
  check_counts(graph, {1'730'973, 1'739'267, 194'018'688});
  for (const Node& node : graph.nodes) {
    if (node.op->type() == "conv") CHECK(test::conv_at(graph, node.path).groups == 1);
  }
  CHECK(test::node_at(graph, "bn1").signature.parameters.size() == 1);
}

TEST_CASE("ResNeXt-29 has the published 34,426,698 and, twice as wide, 68,155,210 parameters") {
  const char* const file = "models/resnext29_cifar.yaml";
  check_counts(test::build_file(file), {34'426'698, 34'484'170, 5'387'266'048});
  check_counts(test::build_file(file, "card: 16"), {68'155'210, 68'255'690, 10'688'866'304});
}

TEST_CASE("ResNet-50 has the counts of keras.applications, of torchvision and of SE-ResNet-50") {
  check_counts(test::build_file("models/keras_resnet50.yaml"),
               {25'583'592, 25'636'712, 3'834'331'136});
  check_counts(test::build_file("models/keras_resnet50.yaml", "size: 256"),
               {25'583'592, 25'636'712, 5'011'308'544});
  check_counts(test::build_file("models/resnet50.yaml"), {25'557'032, 25'610'152, 4'089'184'256});
  check_counts(test::build_file("models/resnet50.yaml", "ratio: 16"),
               {28'088'024, 28'141'144, 4'091'699'200});
}

// One call of every shared block, and what it should come to.
struct BlockCall {
  const char* name;
  const char* call;
  std::int64_t parameters;
  Shape output;
};

TEST_CASE("every shared block has the parameters of its paper's layer") {
  const std::vector<BlockCall> calls = {
      {"conv_bn", "{f: 12, k: 3, s: 2, groups: 4}", 12 * 2 * 9 + 24, {1, 12, 4, 4}},
      {"squeeze_excite", "[8, 2]", 8 * 4 + 4 + 4 * 8 + 8, {1, 8, 8, 8}},
      {"separable", "[8, 12]", 8 * 9 + 8 * 12 + 12, {1, 12, 8, 8}},
      {"separable",
       "{channels: 8, f: 12, multiplier: 2, s: 2}",
       16 * 9 + 16 * 12 + 12,
       {1, 12, 4, 4}},
      {"separable_unit", "[8, 12, 2]", 8 * 9 + 16 + 8 * 12 + 24, {1, 12, 4, 4}},
      {"causal_conv", "[5, 3, 2]", 8 * 5 * 3, {1, 5, 8, 8}},
      {"inverted_residual", "[8, 8]", 8 * 48 + 96 + 48 * 9 + 96 + 48 * 8 + 16, {1, 8, 8, 8}},
      {"inverted_residual", "[8, 12, 2, 1]", 8 * 9 + 16 + 8 * 12 + 24, {1, 12, 4, 4}},
      {"basic_unit", "[8, 8]", 2 * (8 * 8 * 9 + 16), {1, 8, 8, 8}},
      {"basic_unit", "[8, 12, 2]", 8 * 12 * 9 + 24 + 12 * 12 * 9 + 24 + 8 * 12 + 24, {1, 12, 4, 4}},
      {"bottleneck_unit", "[8, 4, 8]", 32 + 8 + 4 * 4 * 9 + 8 + 32 + 16, {1, 8, 8, 8}},
      {"bottleneck_unit",
       "{channels: 8, inner: 4, f: 16, s: 2, groups: 2, ratio: 8}",
       32 + 8 + 4 * 2 * 9 + 8 + 64 + 32 + (16 * 2 + 2 + 2 * 16 + 16) + 128 + 32,
       {1, 16, 4, 4}},
  };
  const std::string folder = std::string(TY_SOURCE_DIR) + "/models/";
  std::set<std::string> called = {"inverted_path"};
  for (const BlockCall& expected : calls) {
    CAPTURE(expected.name);
    CAPTURE(expected.call);
    called.insert(expected.name);
    const config::Node network = config::parse_yaml(
        std::string("{include: blocks.yaml, input: [8, 8, 8], defaults: {conv: {pad: same_upper, "
                    "bias: false}}, layers: [") +
            expected.name + ": " + expected.call + "]}",
        folder + "test.yaml");
    const Graph graph = build_graph(with_includes(network), {});
    CHECK(totals(graph).parameters_trainable == expected.parameters);
    CHECK(test::output_of(graph) == expected.output);
  }
  const config::Node file = config::load_yaml(folder + "blocks.yaml");
  for (const config::Entry& block : file.find("blocks")->entries) {
    CHECK_MESSAGE(called.count(block.key) == 1, block.key, " has no case");
  }
}

TEST_CASE("the LSTMs have the parameters of Keras's examples") {
  const Graph imdb = test::build_file("models/imdb_lstm.yaml");
  CHECK(totals(imdb).parameters_trainable == 2'691'713);
  CHECK(totals(imdb).parameters_total == 2'691'713);
  CHECK(imdb.closing_activation == "sigmoid");
  CHECK(test::output_of(imdb) == Shape{1, 1});
  // 4 gates of 128 units on 57 characters and the state; 57 classes.
  const std::int64_t characters = 4 * 128 * (57 + 128 + 1) + 57 * (128 + 1);
  const Graph last = test::build_file("models/char_lstm.yaml");
  CHECK(totals(last).parameters_trainable == characters);
  CHECK(test::output_of(last) == Shape{1, 57});
  const Graph every = test::build_file("models/char_lstm_positions.yaml", "vocabulary: 57");
  CHECK(totals(every).parameters_trainable == characters);
  CHECK(test::output_of(every) == Shape{1, 57, 1, 40});
}

TEST_CASE("the small CNNs stay small") {
  CHECK(totals(test::build_file("models/shapes_cnn.yaml")).multiply_adds < 25'000'000);
  CHECK(totals(test::build_file("models/fashion_cnn.yaml")).multiply_adds < 25'000'000);
}

TEST_CASE("multiply-adds are per sample, whatever the batch") {
  const Graph graph = test::build_file("models/resnet_cifar.yaml", "n: 3", {.batch = 128});
  CHECK(totals(graph).multiply_adds == 40'813'184);
  CHECK(test::output_of(graph) == Shape{128, 10});
}

TEST_CASE("the networks of the speed comparison have the peer's parameter counts") {
  const auto trainable = [](const std::string& name) {
    const std::string path = std::string(TY_SOURCE_DIR) + "/scripts/bench/" + name;
    const config::Node run = config::load_run(path, {}, {});
    const config::Node* network = run.find("network");
    REQUIRE(network != nullptr);
    return totals(build_graph(*network, {})).parameters_trainable;
  };
  CHECK(trainable("resnet20.yaml") == 272'474);
  CHECK(trainable("minigooglenet.yaml") == 1'652'826);
  CHECK(trainable("cnn.yaml") == 1'250'858);
  CHECK(trainable("imdb_lstm.yaml") == 2'691'713);
}

TEST_CASE("a frozen node's parameters count only in the total") {
  Graph graph = test::build("{input: [4], layers: [dense: 3, dense: 2]}");
  graph.nodes[0].frozen = true;
  CHECK(totals(graph).parameters_total == 15 + 8);
  CHECK(totals(graph).parameters_trainable == 8);
}

}  // namespace
}  // namespace trainyard
