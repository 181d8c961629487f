// Keys with a letter missing, two letters swapped, one doubled or one replaced: each is found at
// its own position, with the intended key.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "../base/temporary_folder.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/build.h"
#include "run/config/run_config.h"

namespace trainyard {
namespace {

const char* const kRun = R"(name: typos
profile: keras2
network:
  file: net.yaml
  vars:
    width: 8
  defaults:
    conv:
      bias: false
data:
  train:
    source: synthetic
    shape: [3, 8, 8]
    classes: 4
    size: 96
    learnable: true
  val:
    source: cifar10
    root: data
    split: test
    limit: 64
  preprocess:
    - mean_image: train
  augment:
    - shift:
        fill: wrap
        interpolation: nearest
  workers: 1
  resident: auto
  prefetch: 2
batch:
  per_gpu: 16
  remainder: drop
loss: cross_entropy
metrics: [accuracy]
optimizer:
  sgd:
    lr: 0.05
    momentum: 0.9
    nesterov: true
schedule:
  poly:
    power: 1
    by: epoch
epochs: 3
seed: 7
clip_norm: 1
accumulate: 1
threads: 1
deterministic: true
checkpoint:
  every: 1 epoch
  best:
    metric: val_loss
    mode: min
early_stop:
  patience: 3
  min_delta: 0
output:
  plot:
    title: typos
  steps: true
ranks:
  check_weights: 0
  transport: fp32
limits:
  first_step: 600
  step: 60
  silence: 30
)";

const char* const kNetwork = R"(input: [3, 8, 8]
vars:
  width: 4
defaults:
  bn:
    momentum: 0.9
blocks:
  unit:
    args: [f]
    layers:
      - conv:
          filters: $f
          kernel: 3
          stride: 1
          pad: same_upper
          dilation: 1
          groups: 1
          init: he_normal
      - bn
      - relu
layers:
  - unit: $width
  - max_pool:
      size: 2
  - dropout: 0.1
  - repeat:
      times: 2
      layers:
        - conv: [4, 1]
  - dense:
      units: 4
      bias: true
  - softmax
)";

const char* const kChild = "extends: run.yaml\n";

struct Mutant {
  std::size_t line, column;  // position of the key, from 0
  std::string key, word;
};

/// The ways to misspell a key by one letter.
std::vector<std::string> misspelt(const std::string& key) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::string before = key.substr(0, i), after = key.substr(i + 1), letter(1, key[i]);
    words.push_back(before + after);
    words.push_back(before + letter + letter + after);
    if (!after.empty()) words.push_back(before + after.substr(0, 1) + letter + after.substr(1));
    if (key.size() > 1) words.push_back(before + "q" + after);
  }
  std::erase_if(words, [&](const std::string& word) { return word.empty() || word == key; });
  return words;
}

/// Two of five mutants of the keys of a file, so that each kind is present.
std::vector<Mutant> mutants(const std::string& text) {
  static const std::regex kKey("^( *(?:- )?)([a-z_0-9]+):.*");
  std::vector<Mutant> all;
  const std::vector<std::string> lines = split(text, '\n');
  std::size_t count = 0;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::smatch match;
    if (!std::regex_match(lines[line], match, kKey)) continue;
    const std::string key = match[2];
    if (key == "width" || key == "unit") continue;  // the user chose them
    for (const std::string& word : misspelt(key)) {
      if (++count % 5 < 2) all.push_back({line, match[1].str().size(), key, word});
    }
  }
  return all;
}

std::string with(const std::string& text, const Mutant& mutant) {
  std::vector<std::string> lines = split(text, '\n');
  lines[mutant.line].replace(mutant.column, mutant.key.size(), mutant.word);
  return joined(lines, "\n");
}

/// A folder with the three files.
class Files {
 public:
  Files() {
    write("run", kRun);
    write("net", kNetwork);
    write("child", kChild);
  }
  void write(const std::string& name, const std::string& text) const {
    Disk().replace_file(folder_ / (name + ".yaml"), text);
  }
  /// The error of reading a run with its network, without the folder; "" if there is none.
  [[nodiscard]] std::string error(const std::string& name = "run") const {
    try {
      const RunConfig run = read_run_config(folder_ / (name + ".yaml"), {});
      static_cast<void>(build_graph(network_of(run), {.profile = run.profile}));
    } catch (const Error& error) {
      const std::string text = error.what(), folder = folder_.path().string() + "/";
      return text.starts_with(folder) ? text.substr(folder.size()) : text;
    }
    return "";
  }

 private:
  testing::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("98 of 100 misspelt keys are found at their position with the intended key") {
  const Files files;
  CHECK(files.error() == "");
  CHECK(files.error("child") == "");
  int tried = 0, found = 0;
  for (const auto& [name, text] : {std::pair{"run", kRun}, {"net", kNetwork}, {"child", kChild}}) {
    const std::string read = name == std::string("child") ? name : "run";
    for (const Mutant& mutant : mutants(text)) {
      files.write(name, with(text, mutant));
      const std::string error = files.error(read);
      const std::string place = std::string(name) + ".yaml:" + std::to_string(mutant.line + 1) +
                                ":" + std::to_string(mutant.column + 1) + ": ";
      if (error.empty()) continue;  // another key, or one of the user's
      ++tried;
      const std::vector<std::string> messages = split(error, '\n');
      const bool meant = std::ranges::any_of(messages, [&](const std::string& message) {
        return message.find(place) != std::string::npos &&
               message.find("did you mean '" + mutant.key + "'") != std::string::npos;
      });
      found += meant ? 1 : 0;
      if (!meant) MESSAGE(mutant.word << " for " << mutant.key << ": " << error);
    }
    files.write(name, text);
  }
  CHECK(tried >= 800);
  CHECK(100 * found >= 98 * tried);
}

TEST_CASE("a typo in a deciding key is one message, at its own position") {
  const auto error_of = [](const char* name, std::string text, const char* from, const char* to) {
    const Files files;
    text.replace(text.find(from), std::string(from).size(), to);
    files.write(name, text);
    return files.error(name == std::string("net") ? "run" : name);
  };
  CHECK(error_of("run", kRun, "source: synthetic", "souce: synthetic") ==
        "run.yaml:12:5: unknown key 'souce' in 'train'; did you mean 'source'?");
  CHECK(error_of("run", kRun, "file: net.yaml", "fil: net.yaml") ==
        "run.yaml:4:3: unknown key 'fil' in 'network'; did you mean 'file'?");
  const std::string vars = error_of("run", kRun, "  vars:", "  vvars:");
  CHECK(vars.starts_with("run.yaml:5:3: "));
  CHECK(vars.find("did you mean 'vars'?") != std::string::npos);
  CHECK(error_of("child", kChild, "extends", "extnds") ==
        "child.yaml:1:1: unknown key 'extnds'; did you mean 'extends'?");
  // Names of one or two letters get a suggestion too.
  CHECK(error_of("net", kNetwork, "- bn\n", "- b\n").find("did you mean 'bn'?") !=
        std::string::npos);
  CHECK(error_of("run", kRun, "    lr:", "    l:").find("did you mean 'lr'?") != std::string::npos);
}

}  // namespace trainyard
