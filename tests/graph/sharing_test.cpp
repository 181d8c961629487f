// `share:`: whose parameters a layer uses.
#include <doctest/doctest.h>

#include "graph/summary.h"
#include "support.h"

namespace trainyard {
namespace {

using namespace test;

const char* const kSharedBlocks =
    "input: [4, 8, 8]\n"
    "blocks:\n"
    "  cb: {args: [k=1], layers: [conv: {filters: 4, kernel: $k, pad: same_upper}, bn]}\n"
    "  twice: {layers: [{dense: 6, as: a}, {dense: 6, share: a}]}\n";

std::string owner(const Graph& graph, const std::string& path) {
  return node_at(graph, path).parameters_of;
}

TEST_CASE("a layer shares with a named layer, or by path") {
  const Graph graph = build(std::string(kSharedBlocks) + R"(layers:
  - {conv: [4, 1], as: stem}
  - {conv: [4, 1], share: stem}
  - {conv: [4, 1], share: conv2}
  - {conv: [4, 1], share: conv1}
)");
  CHECK(owner(graph, "conv1").empty());
  for (const char* path : {"conv2", "conv3", "conv4"}) CHECK(owner(graph, path) == "conv1");
  CHECK(totals(graph).parameters_total == 4 * 4 + 4);
  CHECK(totals(graph).parameters_trainable == 4 * 4 + 4);
  CHECK(totals(graph).multiply_adds == 4 * 4 * 4 * 64);
}

TEST_CASE(
    "in a repetition a name refers to the newest layer, so each shares with the previous one") {
  const Graph graph = build(std::string(kSharedBlocks) + R"(layers:
  - repeat: {times: 2, layers: [{conv: [4, 1], as: here}, {conv: [4, 1], share: here}]}
)");
  CHECK(owner(graph, "conv2") == "conv1");
  CHECK(owner(graph, "conv3").empty());
  CHECK(owner(graph, "conv4") == "conv3");
}

TEST_CASE("a call shares layer by layer with another call, branches with branches") {
  const Graph graph = build(std::string(kSharedBlocks) + R"(layers:
  - {cb: 3, as: one}
  - {cb: 3, share: one}
  - {add: [[cb], []], as: sum}
  - {add: [[cb], []], share: sum}
  - {act: cb, share: add1.0.cb1}
)");
  CHECK(owner(graph, "cb2.conv1") == "cb1.conv1");
  CHECK(owner(graph, "cb2.bn1") == "cb1.bn1");
  CHECK(owner(graph, "add2.0.cb1.conv1") == "add1.0.cb1.conv1");
  CHECK(owner(graph, "cb3.bn1") == "add1.0.cb1.bn1");
  CHECK(totals(graph).parameters_trainable == (4 * 4 * 9 + 4 + 8) + (4 * 4 + 4 + 8));
  // Statistics are not shared.
  CHECK(totals(graph).parameters_total == totals(graph).parameters_trainable + 5 * 8);
}

TEST_CASE("share: inside a shared block refers to the first owner") {
  const Graph graph = build("input: [6]\n" + std::string(kSharedBlocks).substr(17) +
                            "layers: [{twice: , as: one}, {twice: , share: one}]\n");
  CHECK(owner(graph, "twice1.dense2") == "twice1.dense1");
  CHECK(owner(graph, "twice2.dense1") == "twice1.dense1");
  CHECK(owner(graph, "twice2.dense2") == "twice1.dense1");
}

TEST_CASE("the summary counts shared parameters once and names their owner") {
  const Graph graph =
      build("{input: [6], layers: [dense: 6, {dense: 6, share: dense1}]}", {.batch = 2});
  const Summary summary = summarise(graph);
  CHECK(summary.rows[0].parameters == 42);
  CHECK(summary.rows[1].parameters == 0);
  CHECK(summary_text(summary).find("dense2  dense (parameters of dense1)  [6]              0") !=
        std::string::npos);
  const config::Node json = config::parse_yaml(summary_json(summary), "summary.json");
  CHECK(json.find("layers")->items[0].find("parameters_of")->text.empty());
  CHECK(json.find("layers")->items[1].find("parameters_of")->text == "dense1");
}

}  // namespace
}  // namespace trainyard
