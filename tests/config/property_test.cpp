// Properties over seeded random trees and over every key of the sample schema.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>

#include "config/schema.h"
#include "sample.h"
#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return random() % n; }

std::string random_text(Random& random) {
  static constexpr std::string_view kPieces[] = {
      "a",  "conv", "1", "0",    "010",  "1e5", "true", "null", "~",  "$n",   "-",  ":",  ": ",
      " #", "#",    ",", "[",    "]",    "{",   "}",    "&",    "*",  "!",    "|",  ">",  "'",
      "\"", "\\",   "%", "@",    "`",    " ",   "\n",   "\t",   "?",  "---",  ".",  "_",  "=",
      "<<", "\x01", "é", "日本", "\x7f", "...", "- ",   "? ",   "\r", "0x1f", "+1", ".5", "nan"};
  std::string text;
  for (std::size_t i = below(random, 5); i-- > 0;)
    text += kPieces[below(random, std::size(kPieces))];
  return text;
}

double random_real(Random& random) {
  switch (below(random, 6)) {
    case 0:
      return std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(below(random, 600)));
    case 1:
      return INFINITY;
    case 2:
      return -INFINITY;
    case 3:
      return NAN;
    case 4:
      return static_cast<double>(below(random, 100));
    default:
      return std::ldexp(static_cast<double>(random()), -static_cast<int>(below(random, 1000)));
  }
}

Node random_scalar(Random& random) {
  Node node;
  switch (below(random, 5)) {
    case 0:
      break;
    case 1:
      node.kind = Node::Kind::boolean;
      node.boolean = below(random, 2) == 1;
      break;
    case 2:
      node.kind = Node::Kind::integer;
      node.integer = static_cast<std::int64_t>(random()) >> below(random, 64);
      node.real = static_cast<double>(node.integer);
      break;
    case 3:
      node.kind = Node::Kind::real;
      node.real = random_real(random);
      break;
    default:
      node.kind = Node::Kind::text;
      node.text = random_text(random);
  }
  return node;
}

Node random_tree(Random& random, int depth) {
  const std::size_t choice = depth == 0 ? 0 : below(random, 3);
  if (choice == 0) return random_scalar(random);
  Node node;
  node.kind = choice == 1 ? Node::Kind::list : Node::Kind::map;
  for (std::size_t i = below(random, 5); i-- > 0;) {
    Node child = random_tree(random, depth - 1);
    if (choice == 1) {
      node.items.push_back(std::move(child));
      continue;
    }
    const std::string key = random_text(random) + std::to_string(i);
    if (node.find(key) == nullptr) node.entries.push_back({key, {}, std::move(child)});
  }
  return node;
}

// Every typo of `word`: neighbours swapped, a letter dropped, doubled or in the other case.
std::vector<std::string> slips(const std::string& word) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::string swapped = word, dropped = word, doubled = word, cased = word;
    if (i + 1 < word.size()) std::swap(swapped[i], swapped[i + 1]);
    dropped.erase(i, 1);
    doubled.insert(i, 1, word[i]);
    if (word[i] >= 'a' && word[i] <= 'z') cased[i] = static_cast<char>(word[i] - 'a' + 'A');
    for (std::string& slip : std::vector<std::string>{swapped, dropped, doubled, cased}) {
      if (slip != word && !slip.empty()) list.push_back(std::move(slip));
    }
  }
  return list;
}

// The messages from reading `key` in this map.
template <class T>
std::string key_refusal(const std::string& key) {
  T out;
  return read_into("'" + key + "': 1\n", out, "map");
}

struct Tally {
  int slips = 0, refused = 0, right = 0;
};

template <class T>
Tally try_all_slips() {
  Fields fields(Profile::keras2);
  T out;
  declare(fields, out);
  Tally tally;
  for (const FieldDescription& field : fields.descriptions()) {
    for (const std::string& slip : slips(field.key)) {
      const std::string message = key_refusal<T>(slip);
      ++tally.slips;
      if (message.find("unknown key '" + slip + "'") != std::string::npos) ++tally.refused;
      if (message.find("did you mean '" + field.key + "'?") != std::string::npos) ++tally.right;
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("1000 random trees are the same after writing and parsing") {
  Random random(20);
  for (int i = 0; i < 1000; ++i) {
    const Node tree = random_tree(random, 4);
    const std::string text = to_yaml(tree);
    CAPTURE(text);
    Node again;
    REQUIRE_NOTHROW(again = parse_yaml(text, "t.yaml"));
    REQUIRE(same_value(tree, again));
    REQUIRE(to_yaml(again) == text);
  }
}

TEST_CASE("a misspelt key is refused and 95 of 100 get the right suggestion") {
  const Tally run = try_all_slips<sample::Run>();
  const Tally window = try_all_slips<sample::Window>();
  const Tally batch = try_all_slips<sample::Batch>();
  const int count = run.slips + window.slips + batch.slips;
  CHECK(count > 300);
  CHECK(run.refused + window.refused + batch.refused == count);
  CHECK(100 * (run.right + window.right + batch.right) >= 95 * count);
}
