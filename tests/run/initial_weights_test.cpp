// `--init`: which tensors of a file a model loads, and what is reported about the others.
#include "run/initial_weights.h"

#include <doctest/doctest.h>

#include <cstring>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/half.h"
#include "base/hash.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/run_identity.h"
#include "run/config/resolved_config.h"
#include "run/session/session.h"
#include "run/snapshot.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::testing;
using Names = std::vector<std::string>;

namespace {

constexpr const char* kDrawnRun = R"(
name: tiny
network:
  input: [1, 4, 4]
  layers:
    - dense: 3
    - relu
    - dense: 2
data:
  train: {source: synthetic, shape: [1, 4, 4], classes: 2, size: 8}
  val: {source: synthetic, shape: [1, 4, 4], classes: 2, size: 8, split: test}
  workers: 0
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.1}}
epochs: 1
)";

/// The model of kDrawnRun with its random initial weights.
struct Drawn {
  Drawn() : session(test::read_run(kDrawnRun), {.threads = 1}, nullptr, alone) {
    session.model().initialize(1);
  }
  [[nodiscard]] std::vector<float> values(const std::string& name) {
    const CheckpointContent content = snapshot(session, {});
    for (const NamedTensor& tensor : content.files.at("weights.safetensors")) {
      if (tensor.name != name) continue;
      std::vector<float> values(tensor.bytes.size() / sizeof(float));
      std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      return values;
    }
    return {};
  }
  RankGroup alone{{}};
  Session session;
};

/// Tensors of a file under construction.
class Tensors {
 public:
  template <class T>
  Tensors& add(const std::string& name, StoredType type, std::vector<std::int64_t> shape, T value) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    const std::vector<T> values(static_cast<std::size_t>(count), value);
    const auto bytes = std::as_bytes(std::span(values));
    copies_.emplace_back(bytes.begin(), bytes.end());
    tensors_.push_back({name, type, std::move(shape), {}});
    return *this;
  }
  void save(const std::filesystem::path& path) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].bytes = copies_[i];
    Disk().replace_file(path, encode_safetensors(tensors_).parts());
  }

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<std::vector<std::byte>> copies_;
};

Tensors stem() {
  return Tensors()
      .add("dense1.weight", StoredType::f32, {3, 16}, 0.5f)
      .add("dense1.bias", StoredType::f32, {3}, 0.25f);
}

/// The message with which initialize_from() refuses `tensors`; "" if it takes them.
std::string refusal(Tensors tensors, const Names& skip = {}) {
  const TemporaryFolder folder;
  tensors.save(folder / "w.safetensors");
  Drawn drawn;
  return error_of(ErrorKind::checkpoint, [&] {
    InitialWeights weights = read_initial_weights({folder / "w.safetensors", skip});
    initialize_from(drawn.session.model(), weights);
  });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "--init loads what file and network share, and names what it skips and what is left new") {
  const TemporaryFolder folder;
  stem()
      .add("dense2.weight", StoredType::f32, {7, 3}, 0.5f)
      .add("dense2.bias", StoredType::f32, {7}, 0.5f)
      .add("old.weight", StoredType::f32, {1}, 0.5f)
      .save(folder / "w.safetensors");
  Drawn drawn;
  const std::vector<float> head = drawn.values("dense2.weight");
  InitialWeights weights = read_initial_weights({folder / "w.safetensors", {"dense2*"}});
  initialize_from(drawn.session.model(), weights);
  CHECK(drawn.values("dense1.weight") == std::vector<float>(48, 0.5f));
  CHECK(drawn.values("dense1.bias") == std::vector<float>(3, 0.25f));
  CHECK(drawn.values("dense2.weight") == head);
  CHECK_FALSE(weights.tensors.has_value());
  const std::string file = (folder / "w.safetensors").string();
  const std::string all = text_of(weights, 9);
  CHECK(contains(all, "init: loaded 2 of 4 tensors of the network from " + file + "\n"));
  CHECK(contains(all, "\n  skipped as asked 2: dense2.bias, dense2.weight"));
  CHECK(contains(all, "\n  skipped, not in the network 1: old.weight"));
  CHECK(contains(all, "\n  left new 2: dense2."));
  CHECK_FALSE(contains(all, "converted"));
  CHECK(contains(text_of(weights, 1), "\n  skipped as asked 2: dense2.bias and 1 more"));
  const Json json = json_of(weights);
  CHECK(json.at("from") == file);
  CHECK(json.at("skip") == Json({"dense2*"}));
  CHECK(json.at("hash") == weights.hash);
  CHECK(json.at("loaded").size() == 2);
  CHECK(json.at("unknown") == Json({"old.weight"}));
  CHECK(json.at("new").size() == 2);
}

TEST_CASE("loading a whole network's weights is reported in one line") {
  const TemporaryFolder folder;
  stem()
      .add("dense2.weight", StoredType::f32, {2, 3}, 0.5f)
      .add("dense2.bias", StoredType::f32, {2}, 0.5f)
      .save(folder / "w.safetensors");
  Drawn drawn;
  InitialWeights weights = read_initial_weights({folder / "w.safetensors", {}});
  initialize_from(drawn.session.model(), weights);
  CHECK(text_of(weights, 0).starts_with("init: loaded all 4 tensors of the network from "));
}

TEST_CASE("float types are converted if no value is lost, else refused with the tensor") {
  const TemporaryFolder folder;
  Tensors()
      .add("dense1.weight", StoredType::f16, {3, 16}, Float16(1.5f))
      .add("dense1.bias", StoredType::bf16, {3}, BFloat16(-2.5f))
      .add("dense2.weight", StoredType::f64, {2, 3}, 0.375)
      .save(folder / "w.safetensors");
  Drawn drawn;
  InitialWeights weights = read_initial_weights({folder / "w.safetensors", {}});
  initialize_from(drawn.session.model(), weights);
  CHECK(drawn.values("dense1.weight") == std::vector<float>(48, 1.5f));
  CHECK(drawn.values("dense1.bias") == std::vector<float>(3, -2.5f));
  CHECK(drawn.values("dense2.weight") == std::vector<float>(6, 0.375f));
  CHECK(weights.report.converted.size() == 3);
  CHECK(contains(text_of(weights, 1), "\n  converted to the network's type 3: "));
  CHECK(contains(refusal(stem().add("dense2.bias", StoredType::f64, {2}, 0.1)),
                 "dense2.bias: is F64 and holds 0.1, which F32 can only round; save it as F32"));
  CHECK(contains(refusal(stem().add("dense2.bias", StoredType::i32, {2}, std::int32_t{1})),
                 "dense2.bias: has type I32, expected F32"));
}

TEST_CASE("a different shape is refused with the flag that leaves its layer new") {
  const auto wide_head = [] {
    return stem()
        .add("dense2.weight", StoredType::f32, {7, 3}, 0.5f)
        .add("dense2.bias", StoredType::f32, {7}, 0.5f);
  };
  const std::string message = refusal(wide_head());
  CHECK(contains(message, "\n  dense2.weight: has shape [7, 3], expected [2, 3]"));
  CHECK(contains(message, "\n  dense2.bias: has shape [7], expected [2]"));
  CHECK(message.ends_with("for instance for a new head: --init-skip dense2"));
  for (const char* pattern : {"dense2*", "dense2", "dense2.*", "*"}) {
    CAPTURE(pattern);
    CHECK_FALSE(contains(refusal(wide_head(), {pattern}), "shape"));
  }
  CHECK(refusal(wide_head(), {"dense2.weight", "dense2.bias"}) == "");
}

TEST_CASE("a file or pattern without a match is refused, with the existing names") {
  CHECK(contains(refusal(Tensors().add("module.dense1.weight", StoredType::f32, {3, 16}, 1.0f)),
                 "none of its 1 tensors has a name in this network; it has "
                 "'module.dense1.weight', the network '"));
  CHECK(refusal(stem(), {"dense1"}).ends_with("init skips all of its tensors"));
  CHECK(contains(refusal(stem(), {"dnese2"}), "init skips 'dnese2', which names no tensor of "));
  CHECK(refusal(stem(), {"dnese2"}).ends_with("; did you mean 'dense2'?"));
  CHECK(refusal(stem(), {"dense2"}) == "");  // new anyway
}

TEST_CASE("the hash of weights depends on what is loaded, not on where it is stored") {
  const TemporaryFolder folder;
  const auto hash_of = [&](Tensors tensors, const std::string& name, const Names& skip = {}) {
    tensors.save(folder / name);
    return read_initial_weights({folder / name, skip}).hash;
  };
  const std::string hash = hash_of(stem(), "a");
  CHECK(hash.size() == 32);
  CHECK(hash_of(stem(), "b") == hash);
  const auto with_head = [](float value) {
    return stem().add("dense2.bias", StoredType::f32, {2}, value);
  };
  CHECK(hash_of(with_head(1), "c") != hash);
  CHECK(hash_of(with_head(1), "c") != hash_of(with_head(2), "d"));
  CHECK(hash_of(with_head(1), "c", {"dense2"}) == hash);
  CHECK(config_hash("epochs: 1\n", "") == hash128_hex(std::string_view("epochs: 1\n")));
  CHECK(config_hash("epochs: 1\nthreads: 2\nseed: 1\n", "") ==
        config_hash("epochs: 1\nseed: 1\n", ""));
  CHECK(config_hash("threads: 2\nseed: 1\n", "") == config_hash("seed: 1\n", ""));
  CHECK(config_hash("threads: 2\n", "") == config_hash("", ""));
  CHECK(config_hash("threads: 2\noverlap: false\nseed: 1\n", "") == config_hash("seed: 1\n", ""));
  CHECK(config_hash("epochs: 1\n", hash) != config_hash("epochs: 1\n", ""));
}

TEST_CASE("a run resumes with the flags of --init that it was started with, not with others") {
  const TemporaryFolder folder;
  const auto refusal_of = [&](const std::string& run_json, const InitFlags& flags) {
    put_text(folder / "run.json", run_json);
    return error_of(ErrorKind::command_line,
                    [&] { require_init_of_run(folder / "run.json", flags, "so do"); });
  };
  const std::string begun =
      R"({"id": "1", "init": {"from": "a", "skip": ["dense2*"], "hash": "5"}})";
  CHECK(refusal_of(begun, {"a", {"dense2*"}}) == "");
  CHECK(contains(refusal_of(begun, {"b", {}}),
                 "was started with --init a --init-skip 'dense2*', not with --init b; "));
  CHECK(contains(refusal_of(R"({"id": "1"})", {"b", {}}), "was started without --init, not with"));
  CHECK(refusal_of(R"({"version": "before ids"})", {"b", {}}) == "");
  CHECK(refusal_of("{", {"b", {}}) == "");
  put_text(folder / "run.json", begun);
  CHECK(recorded_init_hash(folder / "run.json") == "5");
}
