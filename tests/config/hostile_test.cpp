// Hostile files: each gives an error or a tree, in bounded time and memory.
#include <doctest/doctest.h>

#include <ctime>
#include <functional>

#include "config/expression.h"
#include "sample.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

constexpr std::size_t kMebibyte = 1 << 20;

std::string repeated(const std::string& piece, std::size_t bytes = kMebibyte) {
  std::string text;
  while (text.size() + piece.size() <= bytes) text += piece;
  return text;
}

std::string hostile_refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_yaml(text, "t.yaml")); });
}

// One second in a release build; sanitizers slow the parser about tenfold.
double seconds_allowed() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 20;
#else
  return 1;
#endif
}

// Processor time of this thread, so that a busy machine does not matter.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = processor_seconds();
  work();
  return processor_seconds() - begin;
}

}  // namespace

TEST_CASE("a mebibyte of any construct is refused within a second") {
  for (const std::string piece :
       {"[",    "{",           "- ",         "? ",        "a: ",   "[a, ",  "{a: ",    "&a ",
        "*a ",  "!a ",         "!!",         "\"",        "'",     "|\n",   ">\n",     "x\n",
        "x ",   "\n",          "a: 1\n",     "a: &a x\n", "- x\n", "[]",    "{}",      "[],",
        "a,",   "- - ",        "? a\n",      ": ",        "- ? ",  "---\n", "...\n",   "%a\n",
        "\t",   "\\",          "\"\\x41",    "<<: ",      "1",     "é",     "#",       "# \n",
        " ",    "- &a [*a]\n", "a:\n ",      ",",         "]",     "}",     "- |\n",   "[[a]: b, ",
        "{{",   "@",           "`",          "\xff",      "\r",    "\r\n",  "a: 'x\n", "-\n",
        "a:\n", "\"a\": ",     "- \"a\n\"\n"}) {
    CAPTURE(piece);
    const std::string text = repeated(piece);
    std::string message;
    CHECK(seconds_of([&] { message = hostile_refusal(text); }) < seconds_allowed());
    // Spaces, comments, newlines and document ends make an empty file; everything else exceeds a
    // limit.
    const bool empty = piece == "\n" || piece == "#" || piece == "# \n" || piece == " " ||
                       piece == "\r\n" || piece == "...\n";
    CHECK(message.empty() == empty);
  }
}

TEST_CASE("a file of 20000 keys is refused for its number of values") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  CHECK(hostile_refusal(text).find("more than 10000 values") != std::string::npos);
}

TEST_CASE("20000 keys are parsed, read and merged without quadratic time") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  FileLimits limits;
  limits.nodes = 100000;
  Node node;
  CHECK(seconds_of([&] { node = parse_yaml(text, "t.yaml", limits); }) < seconds_allowed());
  CHECK(node.entries.size() == 20000);
  CHECK(seconds_of([&] { static_cast<void>(merged(node, node, {})); }) < seconds_allowed());
  std::string message;
  CHECK(seconds_of([&] {
          Diagnostics diagnostics;
          sample::Run run;
          Fields fields(node, nullptr, "run", Profile::keras2, diagnostics);
          declare(fields, run);
          fields.finish();
          message = message_of([&] { diagnostics.raise(); });
        }) < seconds_allowed());
  CHECK(message.find("and 19901 more errors") != std::string::npos);
}

TEST_CASE("duplicate keys are found in a map of 9000") {
  std::string text;
  for (int i = 0; i < 4500; ++i) text += "key" + std::to_string(i) + ": 1\n";
  std::string message;
  CHECK(seconds_of([&] { message = hostile_refusal(text + text); }) < seconds_allowed());
  CHECK(message.find("t.yaml:4501:1: duplicate key 'key0'; first given on line 1\n") == 0);
  CHECK(message.find("and 4400 more errors") != std::string::npos);
}

TEST_CASE("text reached through aliases counts in full") {
  std::string text = "a: &a " + std::string(60000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) text += "*a, ";
  CHECK(hostile_refusal(text + "]").find("bytes of text (aliases count in full)") !=
        std::string::npos);
}

TEST_CASE("long texts, files and expressions are refused with the limit") {
  CHECK(hostile_refusal("a: " + std::string(70000, 'x')) ==
        "t.yaml:1:4: a text of 70000 bytes; at most 65536 are allowed");
  CHECK(hostile_refusal(std::string(kMebibyte + 1, '#')) ==
        "t.yaml: is larger than 1048576 bytes, the limit for a config file");
  CHECK(hostile_refusal("").empty());
}

TEST_CASE("thousands of expressions are resolved within a second") {
  std::string text = "a: [";
  for (int i = 0; i < 5000; ++i) text += "$n * 2 + 1, ";
  const Node node = parse_yaml(text + "]", "t.yaml");
  const Scope scope = {{"n", scalar_node("3", false, {})}};
  Diagnostics diagnostics;
  Node result;
  CHECK(seconds_of([&] { result = resolved(node, scope, diagnostics); }) < seconds_allowed());
  CHECK(result.find("a")->items[4999].integer == 7);
}

TEST_CASE("reading elements of a list of thousands does not copy the list each time") {
  std::string text = "a: [";
  for (int i = 0; i < 500; ++i) text += "\"$w[1] + w[2] + w[3] + w[w[0]] + w[5] + w[6]\", ";
  const Node node = parse_yaml(text + "]", "t.yaml");
  Node list;
  list.kind = Node::Kind::list;
  list.items.assign(9000, scalar_node("3", false, {}));
  const Scope scope = {{"w", list}};
  Diagnostics diagnostics;
  Node result;
  CHECK(seconds_of([&] { result = resolved(node, scope, diagnostics); }) < seconds_allowed());
  CHECK(result.find("a")->items[499].integer == 18);
}

TEST_CASE("lists of a list of thousands are refused before they fill the memory") {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i) text += "$w, ";
  const Node node = parse_yaml(text + "]", "t.yaml");
  Node list;
  list.kind = Node::Kind::list;
  list.items.assign(4000, scalar_node("3", false, {}));
  const Scope scope = {{"w", list}};
  Diagnostics diagnostics;
  CHECK(seconds_of([&] { static_cast<void>(resolved(node, scope, diagnostics)); }) <
        seconds_allowed());
  CHECK(message_of([&] { diagnostics.raise(); }) ==
        "t.yaml:1:10: '$w' makes more than 10000 values");
}
