#include "config/node.h"

#include <doctest/doctest.h>

#include <cmath>

#include "config/load.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

Node plain(const std::string& text) { return scalar_node(text, false, {}); }

}  // namespace

TEST_CASE("plain scalars follow the core schema of YAML 1.2") {
  CHECK(plain("12").kind == Node::Kind::integer);
  CHECK(plain("+12").integer == 12);
  CHECK(plain("-12").real == -12);
  CHECK(plain("0").integer == 0);
  for (const char* text : {"1e-4", "1.", ".5", "-1.5E+3", "0.1", "1.e3"}) {
    CAPTURE(text);
    CHECK(plain(text).kind == Node::Kind::real);
    CHECK(plain(text).real == std::stod(text));
  }
  CHECK(plain("-.inf").real == -INFINITY);
  CHECK(std::isnan(plain(".nan").real));
  for (const char* text : {"true", "True", "TRUE"}) CHECK(plain(text).boolean);
  for (const char* text : {"false", "False", "FALSE"}) {
    CHECK(plain(text).kind == Node::Kind::boolean);
    CHECK_FALSE(plain(text).boolean);
    CHECK(to_yaml(plain(text)) == "false\n");
  }
  for (const char* text : {"", "~", "null", "Null", "NULL"}) {
    CHECK(plain(text).kind == Node::Kind::null);
  }
}

TEST_CASE("words that other parsers read as booleans or numbers are text") {
  for (const char* text :
       {"no", "yes", "on", "off", "y",   "tRUE", "1 epoch", "1:30", "0x",  "1e",
        ".",  "-",   "+",  "inf", "nan", "_1",   "1_",      "e5",   "- 1", "1-2"}) {
    CAPTURE(text);
    CHECK(plain(text).kind == Node::Kind::text);
  }
  CHECK(scalar_node("1", true, {}).kind == Node::Kind::text);
}

TEST_CASE("a real is written so that it reads as a real again") {
  Node node;
  node.kind = Node::Kind::real;
  node.real = 2;
  CHECK(to_yaml(node) == "2.0\n");
  node.real = 1e-4;
  CHECK(to_yaml(node) == "1e-04\n");
  node.real = INFINITY;
  CHECK(to_yaml(node) == ".inf\n");
}

TEST_CASE("numbers keep the spelling of the file") {
  const Node node = parse_yaml("{a: 5e-3, b: [1., +2], c: ~}", "t.yaml");
  CHECK(to_yaml(node) == "a: 5e-3\nb: [1., +2]\nc: null\n");
}

TEST_CASE("text that would read as something else is quoted") {
  CHECK(to_yaml(scalar_node("12", true, {})) == "\"12\"\n");
  CHECK(to_yaml(scalar_node("true", true, {})) == "\"true\"\n");
  CHECK(to_yaml(scalar_node("", true, {})) == "\"\"\n");
  CHECK(to_yaml(scalar_node("010", true, {})) == "\"010\"\n");
  CHECK(to_yaml(scalar_node("a: b", true, {})) == "\"a: b\"\n");
  CHECK(to_yaml(scalar_node("a\nb\x01", true, {})) == "\"a\\nb\\x01\"\n");
  CHECK(to_yaml(scalar_node("$n - 1", false, {})) == "$n - 1\n");
}

TEST_CASE("maps in lists begin on the line of their dash") {
  const Node node =
      parse_yaml("layers: [{conv: {filters: 16, stride: [1, 2]}, as: stem}, bn]", "t");
  CHECK(to_yaml(node) ==
        "layers:\n"
        "  - conv:\n"
        "      filters: 16\n"
        "      stride: [1, 2]\n"
        "    as: stem\n"
        "  - bn\n");
}

TEST_CASE("messages say what was found") {
  const Node map = parse_yaml("{a: two, b: 3, c: 1e-3, d: true, e: , f: [1], g: {h: 1}}", "t.yaml");
  CHECK(describe(*map.find("a")) == "text 'two'");
  CHECK(describe(*map.find("b")) == "number 3");
  CHECK(describe(*map.find("c")) == "number 1e-3");
  CHECK(describe(*map.find("d")) == "true");
  CHECK(describe(*map.find("e")) == "nothing");
  CHECK(describe(*map.find("f")) == "a list");
  CHECK(describe(*map.find("g")) == "a map");
  CHECK(describe(scalar_node(std::string(1000, 'x'), true, {})).size() < 80);
}

TEST_CASE("same_value sees every difference but positions") {
  const Node a = parse_yaml("{a: [1, 2.5, x, true, ~, .nan], b: {}}", "a");
  CHECK(same_value(a, parse_yaml("a: [1, 25e-1, 'x', true, null, .NaN]\nb: {}", "b")));
  for (const char* other :
       {"{a: [1, 2.5, x, true, ~, .nan], c: {}}", "{a: [1, 2.5, x, true, ~, 1.0], b: {}}",
        "{a: [1, 2.5, y, true, ~, .nan], b: {}}", "{a: [1, 2.5, x, false, ~, .nan], b: {}}",
        "{a: [2, 2.5, x, true, ~, .nan], b: {}}", "{a: [1, 2.5, x, true, ~], b: {}}",
        "{b: {}, a: [1, 2.5, x, true, ~, .nan]}", "{a: [1, 2.5, x, true, ~, .nan], b: []}"}) {
    CAPTURE(other);
    CHECK_FALSE(same_value(a, parse_yaml(other, "b")));
  }
}
