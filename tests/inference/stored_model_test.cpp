// Opening a trained model: what a path may name, what comes with the weights, and what is refused.
#include "run/stored_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "run/run_folder.h"
#include "run/snapshot.h"
#include "run/training_files.h"
#include "trained_run.h"

using namespace trainyard;
using trainyard::testing::error_of;

namespace {

namespace fs = std::filesystem;

constexpr const char* kStoredRun = R"(name: tiny
network: {input: [3, 8, 8], layers: [{dense: 4}]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 40}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 10, split: test}
  preprocess: [{mean_image: train}]
  workers: 0
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 2
threads: 1
)";

StoredModel opened(const fs::path& path) {
  return open_stored_model(path, {}, [](const std::string&) {});
}

std::string open_fault(ErrorKind kind, const fs::path& path) {
  return error_of(kind, [&] { static_cast<void>(opened(path)); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct StoredRun {
  StoredRun() : run(folder / "one") { test::train_into_folder(kStoredRun, run, "one"); }
  [[nodiscard]] fs::path checkpoint() const {
    return run / "checkpoints" / checkpoint_pointer(run / "checkpoints", "last");
  }
  testing::TemporaryFolder folder;
  fs::path run;
};

}  // namespace

TEST_CASE("a run, its checkpoints, their pointers and files of weights are opened with the run") {
  const StoredRun made;
  for (const fs::path& path :
       {made.run, made.checkpoint(), made.run / "checkpoints" / "last",
        made.run / "weights" / "last.safetensors", made.checkpoint() / "weights.safetensors"}) {
    CAPTURE(path);
    const StoredModel stored = opened(path);
    CHECK(fs::equivalent(stored.run, made.run));
    CHECK(stored.config.length.epochs == 2);
    CHECK(stored.weights.tensors.find("dense1.weight") != nullptr);
    CHECK(stored.statistics.mean_image.size() == 3 * 8 * 8);
    CHECK_FALSE(stored.averaged);
    CHECK_FALSE(stored.vocabulary.has_value());
    REQUIRE(stored.samples.has_value());
    CHECK(stored.samples->image == Shape{3, 8, 8});
    CHECK(stored.samples->classes == 4);
  }
  CHECK(opened(made.checkpoint()).weights.checkpoint->epoch == 2);
  CHECK(contains(text_of(opened(made.run)), "(epoch 2, step 20)"));
}

TEST_CASE("overrides change the config of an opened run") {
  const StoredRun made;
  const std::vector<std::string> overrides{"batch.per_gpu=2"};
  CHECK(open_stored_model(made.run, overrides, [](const std::string&) {}).config.batch.per_gpu ==
        2);
}

TEST_CASE("what the samples are is read from the run, else from its data") {
  const StoredRun made;
  const SamplesRecord recorded = samples_of(opened(made.run), {.seed = 42});
  fs::remove(made.run / "samples.json");
  const StoredModel older = opened(made.run);
  CHECK_FALSE(older.samples.has_value());
  CHECK(samples_of(older, {.seed = 42}) == recorded);
  testing::put_text(made.run / "samples.json", "{\"image\": [3, 8]}");
  CHECK(contains(open_fault(ErrorKind::checkpoint, made.run), "samples.json: does not say what"));
  testing::put_text(made.run / "samples.json",
                    "{\"image\": [3, 8, 8], \"eight_bit\": true, \"classes\": 3, "
                    "\"class_names\": [\"one\"]}");
  CHECK(contains(open_fault(ErrorKind::checkpoint, made.run), "numbers that no samples have"));
}

TEST_CASE("what is neither a run nor a checkpoint is refused, each with its own message") {
  const StoredRun made;
  const std::string folder = made.folder.text();
  CHECK(open_fault(ErrorKind::command_line, made.folder / "ome") ==
        "no run or checkpoint '" + folder + "/ome'; did you mean '" + folder + "/one'?");
  CHECK(open_fault(ErrorKind::command_line, made.folder.path()) ==
        "'" + folder +
            "' is not a run folder: it has no config.yaml of a run; nor is it a checkpoint of one, "
            "with a MANIFEST.json");
  CHECK(
      contains(open_fault(ErrorKind::command_line, made.folder.write("image.png", "not an image")),
               "is not a run folder"));
  fs::copy(made.checkpoint(), made.folder / "away", fs::copy_options::recursive);
  CHECK(contains(open_fault(ErrorKind::checkpoint, made.folder / "away"),
                 "/away' holds weights, but no folder above it is that of a run"));
}

TEST_CASE("damaged weights, and those of another run, are refused") {
  const StoredRun made;
  test::train_into_folder(kStoredRun, made.folder / "two", "two");
  const fs::path moved = made.run / "checkpoints" / "moved";
  fs::copy(made.folder / "two" / "checkpoints" /
               checkpoint_pointer(made.folder / "two" / "checkpoints", "last"),
           moved, fs::copy_options::recursive);
  CHECK(contains(open_fault(ErrorKind::checkpoint, moved), "is a checkpoint of run two"));
  const fs::path two = made.folder / "two";
  fs::remove(two / "statistics.safetensors");
  CHECK(contains(open_fault(ErrorKind::checkpoint, two), "statistics.safetensors"));
  const fs::path weights = made.checkpoint() / "weights.safetensors";
  std::string bytes = testing::text_of(weights);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  testing::put_text(weights, bytes);
  CHECK(contains(open_fault(ErrorKind::checkpoint, made.checkpoint()),
                 "weights.safetensors: damaged: its XXH3-128 is"));
}

TEST_CASE("weights that are not finite are refused with the tensor and its element") {
  const StoredRun made;
  const fs::path file = made.run / "weights" / "last.safetensors";
  std::string bytes = testing::text_of(file);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
    testing::put_text(file, bytes);
    const std::string fault = open_fault(ErrorKind::checkpoint, file);
    CHECK(contains(fault, "weights/last.safetensors: 'dense1."));
    CHECK(contains(fault, std::isnan(value) ? " holds nan at element " : " holds inf at element "));
  }
}

TEST_CASE("weights of another network are refused with each tensor that does not fit") {
  const StoredRun made;
  const auto filled = [&](const std::string& network) {
    std::string text = kStoredRun;
    const std::string own = "{dense: 4}";
    text.replace(text.find(own), own.size(), network);
    RankGroup alone({});
    Session session(test::read_run(text), {.threads = 1}, nullptr, alone);
    return error_of(ErrorKind::checkpoint,
                    [&] { fill_model(session.model(), opened(made.checkpoint())); });
  };
  const std::string file = (made.checkpoint() / "weights.safetensors").string();
  CHECK(filled("{dense: 4}").empty());
  CHECK(filled("{dense: 3}, {dense: 4}") ==
        file +
            " does not fit the model:\n  dense2.weight: is not in the file\n  dense2.bias: is not "
            "in the file\n  dense1.weight: has shape [4, 192], expected [3, 192]\n  dense1.bias: "
            "has shape [4], expected [3]\nare these the weights of another network?");
  CHECK(contains(filled("{dense: {units: 4, bias: false}}"), "dense1.bias: is not in the network"));
}

TEST_CASE("the weights are those of the file") {
  const StoredRun made;
  RankGroup alone({});
  Session session(test::read_run(kStoredRun), {.threads = 1}, nullptr, alone);
  session.model().initialize(7);
  const StoredModel stored = opened(made.run);
  fill_model(session.model(), stored);
  const CheckpointContent content = snapshot(session, {});
  for (const NamedTensor& tensor : content.files.at("weights.safetensors")) {
    CAPTURE(tensor.name);
    CHECK(std::ranges::equal(tensor.bytes, stored.weights.tensors.find(tensor.name)->bytes));
  }
}
