// Every suggestion for a word of another program is one that works.
#include "config/foreign_words.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"
#include "config/load.h"
#include "config/schema.h"
#include "graph/build.h"
#include "graph/words.h"
#include "optim/optimizer.h"
#include "run/config/key_paths.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;
using config::ForeignWord;

namespace {

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

bool is_key(const std::string& path) {
  return std::ranges::find(key_paths(), path, &KeyPath::path) != key_paths().end();
}

/// The place, or the optimizers that have the row's key.
std::vector<std::string> single_places(const std::string& place, const ForeignWord& row) {
  if (place != "any_optimizer") return {place};
  std::vector<std::string> having;
  for (const auto& kind : optimizer_kinds()) {
    const std::string name(kind.name);
    if (is_key("optimizer." + name + "." + std::string(row.here))) having.push_back(name);
  }
  REQUIRE(!having.empty());
  return having;
}

/// Calls `check(word, place, row)` for each word of the table and each of its places.
template <class Check>
void for_each_word(const Check& check) {
  for (const ForeignWord& row : config::foreign_words()) {
    for (const std::string& place : split(row.places, ' ')) {
      for (const std::string& word : split(row.words, ' ')) {
        for (const std::string& single : single_places(place, row)) {
          CAPTURE(word);
          CAPTURE(single);
          check(word, single, row);
        }
      }
    }
  }
}

bool is_layer(const std::string& name) {
  const std::vector<std::string> words = item_words();
  return std::ranges::find(words, name) != words.end();
}

std::string name_in(std::string_view here) { return std::string(here.substr(0, here.find(':'))); }

/// Runs with a map of each place that has keys in a run file, up to that map's value.
std::string run_around(const std::string& place, const std::string& entry) {
  const std::string member = place + ": {" + entry + "}";
  if (place == "run") return kTinyRun + entry + "\n";
  if (place == "data") return with(kTinyRun, "data:\n", "data:\n  " + entry + "\n");
  if (place == "train" || place == "val") {
    return with(kTinyRun, "size: 16", "size: 16, " + entry);
  }
  if (place == "batch") return with(kTinyRun, "{per_gpu: 8}", "{" + entry + "}");
  const std::vector<std::string> parts{"early_stop", "average", "checkpoint"};
  if (std::ranges::find(parts, place) != parts.end()) return kTinyRun + member + "\n";
  if (is_key("optimizer." + place + ".lr")) {
    return with(kTinyRun, "optimizer: sgd", "optimizer: {" + member + "}");
  }
  REQUIRE(is_key("schedule." + place + ".by"));
  return std::string(kTinyRun) + "schedule: {" + member + "}\n";
}

/// The message about `text` that is at this place.
std::string line_with(const std::string& message, const std::string& text) {
  for (const std::string& line : split(message, '\n')) {
    if (line.find(text) != line.npos) return line;
  }
  return message;
}

/// The path of the innermost key of "optimizer: {sgd: {lr: ...}}".
std::string path_in(const config::Node& node) {
  if (node.kind != config::Node::Kind::map || node.entries[0].key == "___") return "";  // {...}
  const std::string below = path_in(node.entries[0].value);
  return node.entries[0].key + (below.empty() ? "" : "." + below);
}

void check_key_of_run(const std::string& word, const std::string& place, const ForeignWord& row) {
  const std::string said =
      line_with(refusal([&] { static_cast<void>(read_run(run_around(place, word + ": 1"))); }),
                "'" + word + "'");
  CAPTURE(said);
  CHECK(said.find("unknown key '" + word + "'") != said.npos);
  const std::size_t begin = said.find("; here it is ");
  if (begin == said.npos) {  // a key of other sources than the tiny run's
    CHECK(is_key("data.train." + std::string(row.here)));
    return;
  }
  if (row.here.empty()) return;
  const std::size_t quote = said.find('\'', begin), end = said.find('\'', quote + 1);
  std::string meant = said.substr(quote + 1, end - quote - 1);
  if (row.remark == "a layer of its own") {
    CHECK(is_layer(name_in(meant)));
    return;
  }
  if (meant.starts_with("--") || meant.starts_with("train ")) return;  // see tests/e2e/foreign.sh
  if (meant.find(':') == meant.npos) {  // a key of the same map, or of the top
    const std::string before = place == "train" || place == "val" ? "data." + place + "." : "";
    const bool own = is_key(meant) || is_key(place + "." + meant) || is_key(before + meant) ||
                     is_key("optimizer." + place + "." + meant) ||
                     is_key("schedule." + place + "." + meant);
    CHECK(own);
    return;
  }
  std::replace(meant.begin(), meant.end(), '.', '_');
  CHECK(is_key(path_in(config::parse_yaml(meant, "meant"))));
}

/// Whether a run or a network with `value` in place of a value reads without an error.
std::string refusal_of_value(const std::string& place, const std::string& value) {
  const auto run_refusal = [](const std::string& text) {
    return refusal([&] { static_cast<void>(read_run(text)); });
  };
  const std::string list = "[{" + (value.find(':') == value.npos ? value + ": " : value) + "}]";
  if (place == "loss") return run_refusal(with(kTinyRun, "loss: cross_entropy", "loss: " + value));
  if (place == "heads") {
    return run_refusal(std::string(kTinyRun) + "heads: [{" + value + ": {output: aux}}]\n");
  }
  if (place == "optimizer") {
    return run_refusal(with(kTinyRun, "optimizer: sgd", "optimizer: " + value));
  }
  if (place == "schedule") return run_refusal(std::string(kTinyRun) + "schedule: " + value + "\n");
  if (place == "metrics") return run_refusal(std::string(kTinyRun) + "metrics: " + list + "\n");
  if (place == "precision") return run_refusal(kTinyRun + ("precision: " + value) + "\n");
  if (place == "preprocess" || place == "augment") {
    return run_refusal(with(kTinyRun, "data:\n", "data:\n  " + place + ": " + list + "\n"));
  }
  if (place == "source") return run_refusal(with(kTinyRun, "synthetic", value));
  REQUIRE((place == "pad" || place == "init"));
  return refusal([&] {
    static_cast<void>(build_graph(
        config::parse_yaml("{input: [3, 8, 8], layers: [conv: {filters: 4, kernel: 3, " + place +
                               ": " + value + "}]}",
                           "n"),
        {}));
  });
}

constexpr std::string_view kValues[] = {"loss",    "heads",     "optimizer",  "schedule",
                                        "metrics", "precision", "preprocess", "augment",
                                        "source",  "pad",       "init"};

bool is_value(const std::string& place) {
  return std::ranges::find(kValues, place) != std::end(kValues);
}

void check_value(const std::string& word, const std::string& place, const ForeignWord& row) {
  const std::string said = refusal_of_value(place, word);
  CAPTURE(said);
  CHECK(said.find(config::meaning_text(row)) != said.npos);
  if (row.remark == "a key of the run") {
    CHECK(is_key(std::string(row.here)));
    return;
  }
  const std::string after = refusal_of_value(place, std::string(row.here));
  CAPTURE(after);
  // Members that need keys say which; those of sources are not those of the tiny run's.
  CHECK(after.find("must be one of") == after.npos);
  if (place != "schedule" && place != "source") CHECK(after == "accepted");
}

void check_layer(const std::string& word, const std::string& place, const ForeignWord& row) {
  const std::string item = place == "layer" ? word : place + ": {" + word + ": 1}";
  const std::string said = refusal([&] {
    static_cast<void>(
        build_graph(config::parse_yaml("{input: [3, 8, 8], layers: [" + item + "]}", "n"), {}));
  });
  CAPTURE(said);
  CHECK(said.find(config::meaning_text(row)) != said.npos);
  const std::string here = name_in(row.here);
  if (place == "layer" || row.remark == "a layer of its own") {
    CHECK(is_layer(here));
    return;
  }
  if (here.empty() || row.remark == "a key of the network") return;
  const std::vector<std::string> keys = keys_of(*find_op(place), config::Profile::keras2);
  CHECK(std::ranges::find(keys, here) != keys.end());
}

}  // namespace

TEST_CASE("every word of another program gets its meaning, and the meaning exists") {
  int words = 0;
  for_each_word([&](const std::string& word, const std::string& place, const ForeignWord& row) {
    ++words;
    if (place == "flag") return;  // see tests/e2e/command_line.sh
    if (is_value(place)) return check_value(word, place, row);
    const bool op = find_op(place) != nullptr && place != "average";
    if (place == "layer" || op) return check_layer(word, place, row);
    if (place == "network") {
      CHECK(row.here == "input");
      return;
    }
    check_key_of_run(word, place, row);
  });
  CHECK(words >= 300);
}

TEST_CASE("a key that belongs elsewhere is shown at its place, with the value where it fits") {
  const auto said = [](const std::string& keys, const std::string& run = kTinyRun) {
    const std::string text = refusal([&] { static_cast<void>(read_run(run + keys + "\n")); });
    return text.substr(text.find(": ") + 2);
  };
  CHECK(said("weight_decay: 5e-4") ==
        "unknown key 'weight_decay' in 'run'; here it is 'optimizer: {sgd: {weight_decay: 5e-4}}'");
  CHECK(said("lr: 0.1", with(kTinyRun, "optimizer: sgd", "optimizer: {adam: {}}")) ==
        "unknown key 'lr' in 'run'; here it is 'optimizer: {adam: {lr: 0.1}}'");
  CHECK(said("learning_rate: 0.1") ==
        "unknown key 'learning_rate' in 'run'; here it is 'optimizer: {sgd: {lr: 0.1}}'");
  CHECK(said("early_stopping: true") ==
        "unknown key 'early_stopping' in 'run'; here it is 'early_stop: {...}'");
  CHECK(said("ema: 0.999") == "unknown key 'ema' in 'run'; here it is 'average: {ema: 0.999}'");
  CHECK(said("batch_size: 64") ==
        "unknown key 'batch_size' in 'run'; here it is 'batch: {per_gpu: 64}'");
  CHECK(said("scheduler: StepLR") ==
        "unknown key 'scheduler' in 'run'; here it is 'schedule: ...'");
  CHECK(said("", with(kTinyRun, "optimizer: sgd", "optimizer: {sgd: {clip_norm: 1}}")) ==
        "unknown key 'clip_norm' in 'sgd'; here it is 'clip_norm: 1' at the top of the file");
  // A key of another optimizer or source belongs nowhere in this file.
  CHECK(said("", with(kTinyRun, "optimizer: sgd", "optimizer: {adam: {momentum: 0.9}}"))
            .find("here it is") == std::string::npos);
  CHECK(said("max_pixels: 3").find("here it is") == std::string::npos);
  CHECK(said("", with(kTinyRun, "source: synthetic", "source: cifar10")).find("here it is") ==
        std::string::npos);
}

TEST_CASE("--set has the suggestion of a flag") {
  const std::string text =
      refusal([] { static_cast<void>(read_run(kTinyRun, {"learning_rate=0.1"})); });
  CHECK(text ==
        "--set learning_rate:1:1: unknown key 'learning_rate' in 'run'; did you mean '--set "
        "optimizer.sgd.lr=0.1'?");
}
