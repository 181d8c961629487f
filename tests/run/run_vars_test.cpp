// `vars:` of a run file.
#include <doctest/doctest.h>

#include <string>

#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const std::string kRun = R"(name: set_${classes}
vars: {classes: 4, side: 8}
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, $side, $side], classes: $classes, size: $4 * classes}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test}
batch: {per_gpu: 8}
loss: cross_entropy
optimizer: sgd
epochs: $side // 8
)";

std::string refused_vars(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return trainyard::test::refusal([&] { static_cast<void>(read_run(yaml, overrides)); });
}

}  // namespace

TEST_CASE("the vars of a run file are names in its expressions, and --set changes them") {
  CHECK(read_run(kRun).name == "set_4");
  const RunConfig run = read_run(kRun, {"vars.classes=6"});
  CHECK(run.name == "set_6");
  CHECK(run.settled.find("data")->find("train")->find("size")->integer == 24);
  CHECK(run.settled.find("vars") == nullptr);
}

TEST_CASE("a run's vars are names in the vars of its network, but not in an inline one") {
  const std::string inline_network = std::string(kTinyRun) + "vars: {n: 3}\nseed: $n\n";
  const std::string own = "layers: [dense: $n + 1], vars: {n: 3, m: $n}";
  std::string run = inline_network;
  run.replace(run.find("layers: [dense: 4]"), 18, own);
  CHECK(read_run(run).network.find("vars")->find("m")->text == "$n");
  run.replace(run.find(own), own.size(), "vars: {classes: $n}");
  run.replace(run.find("input: [3, 8, 8]"), 16, "file: net.yaml");
  CHECK(read_run(run).network.find("vars")->find("classes")->integer == 3);
}

TEST_CASE("vars that no expression uses, and others than a map, are refused") {
  CHECK(refused_vars(kRun, {"vars.clases=5"})
            .find("no expression in the run file uses 'clases'; did you "
                  "mean 'classes'?") != std::string::npos);
  CHECK(refused_vars(kRun, {"vars.class=5"}).find("uses 'class'") != std::string::npos);
  CHECK(refused_vars(std::string(kTinyRun) + "vars: 4\n")
            .find("'vars' must be a map of names and values, such as {classes: 100}, found") !=
        std::string::npos);
  CHECK(refused_vars(std::string(kTinyRun) + "seed: $n\n").find("unknown name 'n'") !=
        std::string::npos);
}
