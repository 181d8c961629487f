#include <doctest/doctest.h>

#include "config/load.h"
#include "config/node.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

/// One line per difference.
std::string compared(const std::string& before, const std::string& after) {
  std::string text;
  for (const Difference& difference :
       differences(parse_yaml(before, "before"), parse_yaml(after, "after"))) {
    text += text_of(difference) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("differences are values, named by their paths, in the order of the first tree") {
  CHECK(compared("a: 1\nb: {c: 2, d: {e: x}}", "a: 3\nb: {c: 2, d: {e: y}}") ==
        "a: 1 -> 3\nb.d.e: x -> y\n");
  CHECK(compared("a: [1, {b: 2}]", "a: [1, {b: 3}]") == "a[1].b: 2 -> 3\n");
}

TEST_CASE("trees with the same meaning do not differ, however they are written") {
  CHECK(compared("a: 1\nb: [1, 2]", "{b: [1, 2], a: +1}").empty());
  CHECK(compared("lr: 0.001", "lr: 1e-3").empty());
}

TEST_CASE("values missing from one tree are reported") {
  CHECK(compared("a: 1\nb: 2", "a: 1") == "b: 2 -> (not set)\n");
  CHECK(compared("a: {}", "a: {b: {c: 1}}") == "a.b: (not set) -> {c: 1}\n");
}

TEST_CASE("lists of different length, and values of different kinds, differ as a whole") {
  CHECK(compared("a: [1, 2]", "a: [1, 2, 3]") == "a: [1, 2] -> [1, 2, 3]\n");
  CHECK(compared("a: {b: 1}", "a: 1") == "a: {b: 1} -> 1\n");
}

TEST_CASE("a long value is truncated") {
  std::string list = "[1";
  for (int i = 0; i < 40; ++i) list += ", 1";
  CHECK(compared("a: " + list + "]", "a: 2") == "a: " + list.substr(0, 60) + "... -> 2\n");
}

TEST_CASE("several trees vary in the keys that are not the same in all; some may lack them") {
  const Node a = parse_yaml("lr: 0.1\nsgd: {m: 0.9, n: 1}", "a");
  const Node b = parse_yaml("lr: 0.1\nsgd: {m: 0.8, n: 1}", "b");
  const Node c = parse_yaml("lr: 0.1\nadam: {m: 0.9}\nlist: [1, 2]", "c");
  const std::vector<const Node*> trees = {&a, &b, &c};
  const std::vector<Variation> found = variations(trees);
  REQUIRE(found.size() == 4);
  CHECK(found[0].key == "sgd.m");
  CHECK(found[0].values == std::vector<std::string>{"0.9", "0.8", ""});
  CHECK(found[1].key == "sgd.n");
  CHECK(found[1].values == std::vector<std::string>{"1", "1", ""});
  CHECK(found[2].key == "adam");
  CHECK(found[2].values == std::vector<std::string>{"", "", "{m: 0.9}"});
  CHECK(found[3].values == std::vector<std::string>{"", "", "[1, 2]"});
  CHECK(variations(std::vector<const Node*>{}).empty());
  CHECK(value_at(a, "sgd.m") == "0.9");
  CHECK(value_at(a, "sgd.q.r").empty());
}
