// What the shipped run files come to, after extends: network, batch, rates and lengths.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "graph/graph.h"
#include "graph/summary.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/config/run_config.h"
#include "run/session/session.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

struct Shipped {
  const char* name;
  std::int64_t trainable, batch;
  double epochs, rate;
  std::vector<std::string> augmentations;
};

RunConfig shipped(const std::string& name) {
  return read_run_config(fs::path(TY_SOURCE_DIR) / "configs" / (name + ".yaml"), {});
}

std::vector<std::string> names_in(const RunConfig& run, const std::string& list) {
  std::vector<std::string> names;
  const config::Node* items = run.settled.find("data")->find(list);
  if (items == nullptr) return names;
  for (const config::Node& item : items->items) {
    names.push_back(item.kind == config::Node::Kind::map ? item.entries[0].key : item.text);
  }
  return names;
}

const std::vector<std::string> kKeras{"shift", "hflip"}, kCrop{"pad_crop", "hflip"},
    kInception{"random_resized_crop", "hflip"},
    kTrivial{"random_resized_crop", "hflip", "trivial_augment", "random_erasing"};

const std::vector<Shipped> kRecipes{
    {"resnet20v1_cifar10", 273'066, 32, 200, 1e-3, kKeras},
    {"resnet32v1_cifar10", 467'946, 32, 200, 1e-3, kKeras},
    {"resnet44v1_cifar10", 662'826, 32, 200, 1e-3, kKeras},
    {"resnet56v1_cifar10", 857'706, 32, 200, 1e-3, kKeras},
    {"resnet110v1_cifar10", 1'734'666, 32, 200, 1e-3, kKeras},
    {"resnet29v2_cifar10", 843'786, 32, 200, 1e-3, kKeras},
    {"resnet56v2_cifar10", 1'663'338, 32, 200, 1e-3, kKeras},
    {"resnet110v2_cifar10", 3'302'442, 32, 200, 1e-3, kKeras},
    {"resnet56v1_cifar10_multi_gpu", 857'706, 32, 200, 1e-3, {}},
    {"cnn_cifar10", 1'250'858, 32, 50, 1e-4, kKeras},
    {"minigooglenet_cifar10", 1'652'826, 64, 70, 5e-3, kKeras},
    {"minigooglenet_cifar10_256", 1'652'826, 256, 70, 5e-3, kKeras},
    {"minigooglenet_cifar10_256_scaled", 1'652'826, 256, 70, 5e-3, kKeras},
    {"minigooglenet_aux_cifar10", 5'909'358, 64, 70, 5e-3, kKeras},
    {"resnext29_8x64d_cifar10", 34'426'698, 128, 300, 0.1, kCrop},
    {"resnext29_16x64d_cifar10", 68'155'210, 128, 300, 0.1, kCrop},
    {"resnext110_cifar10", 1'730'973, 128, 300, 0.05, {"pad_crop", "hls_jitter", "hflip"}},
    {"resnet50_synthetic", 25'583'592, 32, 20, 1e-4, {}},
    {"resnet56_256_synthetic", 4'954'056, 32, 20, 1e-3, {}},
    {"resnet_cifar10", 273'066, 128, 30, 0.1, kCrop},
    {"quickstart", 242'474, 128, 4, 0.05, {"hflip"}},
    {"fashion_mnist", 94'186, 128, 12, 0.05, kKeras},
    {"imdb_lstm", 2'691'713, 32, 15, 1e-3, {}},
    {"text_lstm", 391'268, 32, 5, 2e-3, {}},
    {"lstm_synthetic", 104'508, 128, 20, 0.01, {}},
    {"lstm_nietzsche", 104'508, 128, 60, 0.01, {}},
    {"lstm_wikitext2", 194'248, 128, 60, 0.01, {}},
    {"he_resnet20_cifar10", 269'722, 128, 164, 0.1, kCrop},
    {"he_resnet56_cifar10", 853'018, 128, 164, 0.1, kCrop},
    {"he_resnet110_cifar10", 1'727'962, 128, 164, 0.1, kCrop},
    {"wrn28_10_cifar10", 36'479'194, 128, 200, 0.1, kCrop},
    {"wrn28_10_cifar100", 36'536'884, 128, 200, 0.1, kCrop},
    {"wrn40_4_cifar10", 8'949'210, 128, 200, 0.1, kCrop},
    {"densenet_bc100_cifar10", 769'162, 64, 300, 0.1, kCrop},
    {"resnet18_cifar10", 11'173'962, 128, 200, 0.1, kCrop},
    {"resnet18_cifar100", 11'220'132, 128, 200, 0.1, kCrop},
    {"vgg16_bn_cifar10", 14'728'266, 128, 200, 0.1, kCrop},
    {"mobilenet_v2_cifar10", 2'236'682, 128, 200, 0.1, kCrop},
    {"convmixer_cifar10", 594'186, 512, 25, 0.05, {"hflip", "rand_augment"}},
    {"airbench94_cifar10", 1'971'640, 1024, 9.9, 1.5, {"hflip", "pad_crop"}},
    {"airbench94_muon_cifar10", 1'971'640, 2000, 8, 0.24, {"hflip", "pad_crop"}},
    {"resnet18_imagenet", 11'689'512, 256, 90, 0.1, kInception},
    {"resnet34_imagenet", 21'797'672, 256, 90, 0.1, kInception},
    {"resnet50_imagenet", 25'557'032, 256, 90, 0.1, kInception},
    {"resnet18_imagenet_v2", 11'689'512, 1024, 600, 0.5, kTrivial},
    {"resnet34_imagenet_v2", 21'797'672, 1024, 600, 0.5, kTrivial},
    {"resnet50_imagenet_v2", 25'557'032, 1024, 600, 0.5, kTrivial},
};

TEST_CASE("every shipped run has the network, batch, rate and length of its recipe") {
  std::set<std::string> listed;
  for (const Shipped& recipe : kRecipes) {
    CAPTURE(recipe.name);
    listed.insert(recipe.name);
    const RunConfig run = shipped(recipe.name);
    CHECK(run.name == recipe.name);
    CHECK(totals(build_network(run, 2)).parameters_trainable == recipe.trainable);
    CHECK(replica_batch(run, 1) == recipe.batch);
    CHECK(run.length.epochs == recipe.epochs);
    CHECK(run.optimizer->rate == recipe.rate);
    CHECK(names_in(run, "augment") == recipe.augmentations);
  }
  for (const auto& entry : fs::directory_iterator(fs::path(TY_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    CHECK_MESSAGE(listed.count(entry.path().stem()) == 1, entry.path().string(), " has no row");
  }
}

TEST_CASE("Keras's ResNets lower the rate after epochs 80, 120, 160 and 180") {
  const RunConfig run = shipped("resnet110v2_cifar10");
  const auto rate = [&](std::int64_t epoch) {
    return run.schedule->rate(epoch, {.base = 1e-3, .steps = 200, .steps_per_epoch = 1});
  };
  CHECK(rate(80) == 1e-3);
  CHECK(rate(81) == 1e-4);
  CHECK(rate(121) == 1e-5);
  CHECK(rate(161) == 1e-6);
  CHECK(rate(180) == 1e-6);
  CHECK(rate(181) == 5e-7);
}

TEST_CASE("the guide's rate falls from 5e-3 to 7.143e-5, four times as high if scaled to 256") {
  const RunConfig run = shipped("minigooglenet_cifar10");
  const ScheduleContext context{.base = 5e-3, .steps = 70, .steps_per_epoch = 1};
  CHECK(run.schedule->rate(0, context) == 5e-3);
  CHECK(run.schedule->rate(69, context) == doctest::Approx(5e-3 / 70).epsilon(1e-12));
  CHECK(rate_factor(shipped("minigooglenet_cifar10_256"), 256) == 1);
  CHECK(rate_factor(shipped("minigooglenet_cifar10_256_scaled"), 256) == 4);
}

TEST_CASE("the losses of MiniGoogLeNet's auxiliary classifiers count 0.3 each") {
  const RunConfig run = shipped("minigooglenet_aux_cifar10");
  REQUIRE(run.heads.size() == 2);
  for (const auto& head : run.heads) CHECK(head->values().weight == 0.3);
}

TEST_CASE("the CNN's rate decays with every step, and the multi-GPU ResNet reads raw pixels") {
  CHECK(shipped("cnn_cifar10").optimizer->time_decay == 1e-6);
  CHECK(names_in(shipped("resnet56v1_cifar10_multi_gpu"), "preprocess").empty());
  CHECK(names_in(shipped("resnet56v2_cifar10"), "preprocess") ==
        std::vector<std::string>{"scale", "mean_image"});
}

}  // namespace
}  // namespace trainyard
