// include: blocks from other files.
#include "../base/temporary_folder.h"
#include "graph/summary.h"
#include "support.h"

namespace trainyard {
namespace {

using test::conv_at;
using testing::TemporaryFolder;

constexpr const char* kLayers = "input: [4, 5, 5]\nlayers: [point: 3]\n";

/// The message of reading and building FOLDER/net.yaml, with FOLDER/ removed.
std::string refusal(const TemporaryFolder& folder, const std::string& network) {
  folder.write("net.yaml", network);
  try {
    (void)build_graph(load_network(folder / "net.yaml"), {});
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string prefix = (folder / "").string();
    for (std::size_t at = 0; (at = text.find(prefix)) != std::string::npos;) {
      text.erase(at, prefix.size());
    }
    return text;
  }
  return "";
}

TEST_CASE("a network calls the blocks of the files that it includes, and those of theirs") {
  const TemporaryFolder folder;
  folder.write("parts/conv.yaml",
               "blocks: {point: {args: [f], layers: [conv: [$f, 1], act: relu]}}\n");
  folder.write("parts/all.yaml",
               "include: conv.yaml\nblocks: {two: {args: [f], layers: [point: $f, point: $f]}}\n");
  folder.write("net.yaml",
               "include: [parts/all.yaml, parts/conv.yaml]\ninput: [4, 5, 5]\n"
               "blocks: {own: {layers: [two: 7]}}\nlayers: [own, point: 3]\n");
  const Graph graph = build_graph(load_network(folder / "net.yaml"), {});
  CHECK(conv_at(graph, "own1.two1.point2.conv1").filters == 7);
  CHECK(conv_at(graph, "point1.conv1").filters == 3);
  CHECK(test::node_at(graph, "point1.conv1").where.file == (folder / "parts/conv.yaml").string());
}

TEST_CASE("errors in an included block cite its own file and the call") {
  const TemporaryFolder folder;
  folder.write("blocks.yaml", "blocks:\n  point:\n    args: [f]\n    layers: [conv: [$f, 9]]\n");
  CHECK(refusal(folder, std::string("include: blocks.yaml\n") + kLayers) ==
        "blocks.yaml:4:14: layer 'point1.conv1': height: a window over 9 pixels does not fit an "
        "input of 5 with 0 of padding on each side; input: [1, 4, 5, 5] (the network's input); "
        "called from net.yaml:3:10");
}

TEST_CASE("what cannot be included is refused with its position") {
  const TemporaryFolder folder;
  folder.write("blocks.yaml", "blocks: {point: {args: [f], layers: [conv: [$f, 1]]}}\n");
  folder.write("list.yaml", "- point\n");
  folder.write("network.yaml", "block: {}\ninput: [3]\nblocks: 3\n");
  folder.write("again.yaml", "blocks:\n  point: {layers: [relu]}\n");
  folder.write("loop.yaml", "include: net.yaml\n");
  const std::string rest = kLayers;
  CHECK(refusal(folder, "include: blocs.yaml\n" + rest) ==
        "net.yaml:1:10: include: no such file: blocs.yaml; did you mean 'blocks.yaml'?");
  CHECK(refusal(folder, "include: [3]\n" + rest) ==
        "net.yaml:1:11: include: expected the name of a file of blocks, or a list of names, found "
        "number 3");
  CHECK(refusal(folder, "include: {file: blocks.yaml}\n" + rest).find("found a map") !=
        std::string::npos);
  CHECK(refusal(folder, "include: list.yaml\n" + rest) ==
        "list.yaml:1:1: an included file is a map with the key 'blocks', found a list");
  CHECK(refusal(folder, "include: network.yaml\n" + rest) ==
        "network.yaml:1:1: key 'block' in an included file, which may hold 'include' and 'blocks'; "
        "did you mean 'blocks'?\n"
        "network.yaml:2:1: key 'input' in an included file, which may hold 'include' and 'blocks'\n"
        "network.yaml:3:9: blocks: expected a map of blocks, found number 3");
  CHECK(refusal(folder, "include: [blocks.yaml, again.yaml]\n" + rest) ==
        "again.yaml:2:3: block 'point' is also defined at blocks.yaml:1:10, which is included; "
        "rename one");
  CHECK(refusal(folder, "include: blocks.yaml\nblocks: {point: {layers: [relu]}}\n" + rest) ==
        "net.yaml:2:10: block 'point' is also defined at blocks.yaml:1:10, which is included; "
        "rename one");
  CHECK(refusal(folder, "include: loop.yaml\n" + rest) ==
        "loop.yaml:1:10: include forms a cycle: net.yaml -> loop.yaml -> net.yaml");
  CHECK(refusal(folder, "includ: blocks.yaml\n" + rest).find("did you mean 'include'?") !=
        std::string::npos);
  CHECK(test::message_of("{include: blocks.yaml, input: [3], layers: [relu]}") ==
        "net.yaml:1:11: include: this network is not read from a file");
}

TEST_CASE("includes have the limits of one file in values, and a limit in number") {
  const TemporaryFolder folder;
  for (char name = 'a'; name <= 'c'; ++name) {
    std::string text = "blocks:\n";
    for (int i = 0; i < 700; ++i) {
      text += std::string("  b_") + name + std::to_string(i) + "_: {layers: [relu, relu, relu]}\n";
    }
    folder.write(std::string(1, name) + ".yaml", text);
  }
  CHECK(refusal(folder, std::string("include: [a.yaml, b.yaml, c.yaml]\n") + kLayers) ==
        "net.yaml:1:10: include: the network has more than 10000 values with its includes");
  std::string names = "include: [";
  for (int i = 0; i < 33; ++i) {
    folder.write("f" + std::to_string(i) + ".yaml", "blocks: {}\n");
    names += "f" + std::to_string(i) + ".yaml, ";
  }
  CHECK(refusal(folder, names + "]\n" + kLayers).find("include: more than 32 files") !=
        std::string::npos);
}

TEST_CASE("without unused includes, a network keeps what it calls and its own blocks") {
  const TemporaryFolder folder;
  folder.write(
      "blocks.yaml",
      "blocks:\n  leaf: {layers: [relu]}\n  tree: {layers: [leaf]}\n"
      "  gate: {layers: [relu]}\n  other: {layers: [gate]}\n  lone: {layers: [lone_leaf]}\n"
      "  lone_leaf: {layers: [relu]}\n");
  const auto kept = [&](const std::string& text) {
    folder.write("net.yaml", "include: blocks.yaml\n" + text);
    const config::Node all = load_network(folder / "net.yaml");
    const config::Node network = without_unused_includes(all);
    const auto paths = [](const config::Node& node) { return test::paths(build_graph(node, {})); };
    CHECK(paths(network) == paths(all));
    std::string names;
    for (const config::Entry& block : network.find("blocks")->entries) names += block.key + " ";
    return names;
  };
  CHECK(kept("input: [3]\nlayers: [tree]\n") == "leaf tree ");
  CHECK(kept("input: [3]\nblocks: {own: {layers: [gate]}}\nlayers: [relu]\n") == "gate own ");
  CHECK(kept("input: [3]\nvars: {a: gate}\nlayers: [act: $a]\n") == "gate ");
  CHECK(kept("input: [3]\nvars: {a: te}\nlayers: [act: \"ga${a}\"]\n") ==
        "leaf tree gate other lone lone_leaf ");
}

}  // namespace
}  // namespace trainyard
