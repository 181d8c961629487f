#include "config/expression.h"

#include <cmath>

#include "expect.h"

namespace trainyard::fuzz {

void read_expression(std::string_view input) {
  using config::Node;
  const auto scalar = [](const char* text) { return config::scalar_node(text, false, {}); };
  Node list;
  list.kind = Node::Kind::list;
  list.items = {scalar("1"), scalar("2")};
  Node map;
  map.kind = Node::Kind::map;
  map.entries.resize(2);
  map.entries[0].key = "f";
  map.entries[0].value = scalar("4");
  map.entries[1].key = "l";
  map.entries[1].value = list;
  const config::Scope scope{{"n", scalar("3")},    {"x", scalar("0.5")}, {"b", scalar("true")},
                            {"t", scalar("word")}, {"l", list},          {"m", map}};
  config::Diagnostics diagnostics;
  const Node written = config::scalar_node(std::string(input), true, {"x.yaml", 1, 1});
  const Node value = config::evaluate(written, scope, diagnostics);
  diagnostics.raise();
  if (!value.is_number()) return;
  expect(std::isfinite(value.real), "a result that is not finite: " + value.text);
  expect(same_value(config::scalar_node(value.text, false, {}), value),
         "a result that reads as another number: " + value.text);
}

}  // namespace trainyard::fuzz
