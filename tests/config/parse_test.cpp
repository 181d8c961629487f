#include <doctest/doctest.h>

#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

Node parse(const std::string& text) { return parse_yaml(text, "t.yaml"); }

std::string parse_refusal(const std::string& text, const FileLimits& limits = {}) {
  return message_of([&] { static_cast<void>(parse_yaml(text, "t.yaml", limits)); });
}

}  // namespace

TEST_CASE("every value has its line and column, counted from 1") {
  const Node root = parse("a: 1\nb:\n  - x\n  - {c: 2}\n");
  CHECK(root.where.text() == "t.yaml:1:1");
  CHECK(root.find("a")->where.text() == "t.yaml:1:4");
  CHECK(root.entries[1].where.text() == "t.yaml:2:1");
  const Node& list = *root.find("b");
  CHECK(list.where.text() == "t.yaml:3:3");
  CHECK(list.items[0].where.text() == "t.yaml:3:5");
  CHECK(list.items[1].where.text() == "t.yaml:4:5");
  CHECK(list.items[1].entries[0].where.text() == "t.yaml:4:6");
  CHECK(list.items[1].find("c")->where.text() == "t.yaml:4:9");
}

TEST_CASE("an omitted value has the position of its key") {
  const Node root = parse("a:\nb: 1\nc:\n");
  CHECK(root.find("a")->where.text() == "t.yaml:1:1");
  CHECK(root.find("c")->where.text() == "t.yaml:3:1");
  CHECK(parse("a: ~").find("a")->where.text() == "t.yaml:1:4");
}

TEST_CASE("an empty file is an empty tree") {
  CHECK(parse("").kind == Node::Kind::null);
  CHECK(parse("# nothing\n").kind == Node::Kind::null);
  CHECK(parse("").where.text() == "t.yaml:1:1");
}

TEST_CASE("the forms of the language parse as written") {
  const Node root = parse("[conv: {f: $s > 1}, {s: $1 if i == 0 else 2}, bn]");
  CHECK(root.items[0].find("conv")->find("f")->text == "$s > 1");
  CHECK(root.items[1].find("s")->text == "$1 if i == 0 else 2");
  CHECK(root.items[2].text == "bn");
  CHECK(parse("a: |\n  x\n  y\n").find("a")->quoted);
}

TEST_CASE("aliases are copied") {
  const Node root = parse("a: &x {b: [1, 2]}\nc: *x\nd: &y 5\ne: *y\n");
  CHECK(same_value(*root.find("a"), *root.find("c")));
  CHECK(root.find("e")->integer == 5);
}

TEST_CASE("a byte order mark and Windows line endings are accepted") {
  const Node root = parse(
      "\xef\xbb\xbf"
      "a: 1\r\nb: x\r\n");
  CHECK(root.find("a")->integer == 1);
  CHECK(root.find("b")->text == "x");
  CHECK(root.find("b")->where.text() == "t.yaml:2:4");
}

TEST_CASE("a UTF-16 file gets one message, with a byte order mark or without") {
  const std::string little(
      "a\0:\0 \0"
      "1\0",
      8),
      big("\0a\0:\0 \0"
          "1",
          8);
  for (const std::string& text : {"\xff\xfe" + little, "\xfe\xff" + big, little, big}) {
    CHECK(message_of([&] { static_cast<void>(parse_yaml(text, "t.yaml")); }) ==
          "t.yaml: is UTF-16 text; save it as UTF-8");
  }
  const std::string zero("a: \0b", 5);
  CHECK(message_of([&] { static_cast<void>(parse_yaml(zero, "t.yaml")); }) ==
        "t.yaml:1:4: control character 0x00; write it as an escape between double quotes");
}

TEST_CASE("input that yaml-cpp silently drops is an error") {
  for (const char* text : {",", ", a: 1", "}", "]", "a: 1\n]", "\"a\" b", "[a] b", "a: 1\n, b: 2",
                           "a: [1, 2]]", "- a\nb: 1"}) {
    CAPTURE(text);
    CHECK(parse_refusal(text).substr(0, 7) == "t.yaml:");
  }
}

TEST_CASE("all mistakes in a file are reported together, in file order") {
  CHECK(parse_refusal("a: 010\nb: 1\nb: 2\n<<: 3\n") ==
        "t.yaml:1:4: '010' looks octal; drop the leading zero, or quote it if text is meant\n"
        "t.yaml:3:1: duplicate key 'b'; first given on line 2\n"
        "t.yaml:4:1: '<<' is not part of the language; a run file takes over another one with "
        "'extends: FILE'");
}
