// The key `mix` of the data.
#include <doctest/doctest.h>

#include <string>

#include "run/session/session.h"
#include "run_text.h"
#include "trained_session.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::string mixed(const std::string& mix, const std::string& more = "loss: cross_entropy\n",
                  const std::string& shape = "[3, 8, 8]") {
  const std::string data = "{source: synthetic, shape: " + shape + ", classes: 4, size: 16";
  return "name: tiny\nnetwork: {input: " + shape + ", layers: [flatten, dense: 4]}\n" +
         "data:\n  train: " + data + "}\n  val: " + data +
         ", split: test}\n  workers: 0\n  mix: " + mix +
         "\nbatch: {per_gpu: 4}\noptimizer: sgd\nepochs: 1\nthreads: 1\n" + more;
}

std::string refused_mix(const std::string& yaml) {
  return trainyard::test::refusal([&] { static_cast<void>(read_run(yaml)); });
}

std::string refused_data(const std::string& yaml) {
  const RunConfig run = read_run(yaml);
  return trainyard::test::refusal([&] {
    RankGroup alone({});
    const Session session(run, {.threads = 1}, nullptr, alone);
  });
}

}  // namespace

TEST_CASE("a mix that contradicts the run file is refused") {
  CHECK(refused_mix(mixed("{mixup: 0.2}")) == "accepted");
  CHECK(refused_mix(mixed("off")) == "accepted");
  CHECK(refused_mix(mixed("{cutmix: 1}", "loss: binary_cross_entropy\n")) == "accepted");
  struct Case {
    std::string yaml, message;
  };
  const Case cases[] = {
      {mixed("{switch: 0.5}"), "'mix' requires 'mixup' or 'cutmix' above 0"},
      {mixed("{mixup: -1}"), "'mixup'"},
      {mixed("{mixup: 1, probability: 2}"), "'probability'"},
      {mixed("{mixup_alpha: 1}"), "'mixup_alpha'"},
      {mixed("{mixup: 1}", "loss: mse\n"),
       "'mix' mixes labels, for cross_entropy or binary_cross_entropy; the run has a loss 'mse' on "
       "'label'"},
      {mixed("{mixup: 1}", "loss: {binary_cross_entropy: {target: tags}}\n"), "on 'tags'"}};
  for (const Case& one : cases) {
    CAPTURE(one.yaml);
    CHECK(refused_mix(one.yaml).find(one.message) != std::string::npos);
  }
}

TEST_CASE("samples that cannot be mixed are refused") {
  CHECK(refused_data(mixed("{mixup: 1, cutmix: 1}")) == "accepted");
  CHECK(refused_data(mixed("{mixup: 1}", "loss: cross_entropy\n", "[9, 1, 1]")) == "accepted");
  CHECK(refused_data(mixed("{cutmix: 1}", "loss: cross_entropy\n", "[9, 1, 1]"))
            .find("'cutmix' pastes parts of images, but the samples are [9, 1, 1]; remove it") !=
        std::string::npos);
}
