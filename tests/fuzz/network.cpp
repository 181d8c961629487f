#include "config/load.h"
#include "expect.h"
#include "graph/build.h"
#include "graph/summary.h"

namespace trainyard::fuzz {

void read_network(std::string_view input) {
  const config::Node network = config::parse_yaml(input, "x.yaml");
  const Graph graph = build_graph(network, {.batch = 2});
  const Summary summary = summarise(graph);
  expect(!summary_text(summary).empty() && !summary_json(summary).empty(), "an empty summary");
  // The expanded network may have more values than a file is allowed.
  constexpr std::size_t kMostNodes = 500;
  if (graph.nodes.size() > kMostNodes) return;
  const std::string text = expanded_yaml(graph);
  const Graph again = read_again(
      text, [&] { return build_graph(config::parse_yaml(text, "again.yaml"), {.batch = 2}); });
  expect(totals(again).parameters_total == summary.totals.parameters_total &&
             totals(again).multiply_adds == summary.totals.multiply_adds,
         "the expanded network differs:\n" + text);
}

}  // namespace trainyard::fuzz
