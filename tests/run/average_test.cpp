// A run whose weights are averaged: which copy is judged, saved and restored.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "checkpoint/tensor_slots.h"
#include "rank_sessions.h"
#include "run/config/run_config.h"
#include "run/initial_weights.h"
#include "run/session/session.h"
#include "run/snapshot.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kAveragedRun = R"(
name: averaged
network:
  input: [3, 6, 6]
  layers: [conv: [4, 3], bn, relu, dropout: 0.2, global_avg_pool, dense: 4]
data:
  train: {source: synthetic, shape: [3, 6, 6], classes: 4, size: 64, learnable: true}
  val: {source: synthetic, shape: [3, 6, 6], classes: 4, size: 19, split: test, learnable: true}
  preprocess: [scale: $1/128]
  workers: 0
batch: {total: 16, shards: 4}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.1, momentum: 0.9}}
epochs: 2
)";
const std::string kEma = "average={ema: 0.9}";
const std::string kEmaJudgedAsTrained = "average={ema: 0.9, judged: trained}";
const std::string kLookahead =
    "lookahead={every: 2, pull: 0.8, schedule: {expression: $base * (step + 1) / steps}}";
const std::string kMuon = "optimizer={muon: {lr: 0.02, rest: {adamw: {lr: 0.01}}}}";

PartialRunEnd averaged(const std::vector<std::string>& overrides, int ranks = 1,
                       const LoadedCheckpoint* from = nullptr, std::int64_t until = 0) {
  return run_stretch(
      {.yaml = kAveragedRun, .overrides = overrides, .ranks = ranks, .from = from, .until = until});
}

bool same_tensors(const SafetensorsFile& a, const SafetensorsFile& b) {
  for (const NamedTensor& tensor : a.tensors()) {
    const NamedTensor* const other = b.find(tensor.name);
    if (other == nullptr || other->bytes.size() != tensor.bytes.size()) return false;
    if (std::memcmp(other->bytes.data(), tensor.bytes.data(), tensor.bytes.size()) != 0) {
      return false;
    }
  }
  return a.tensors().size() == b.tensors().size();
}

bool same_files(const LoadedCheckpoint& a, const LoadedCheckpoint& b) {
  if (a.files.size() != b.files.size()) return false;
  for (const auto& [name, file] : a.files) {
    if (!b.files.contains(name) || !same_tensors(file, b.files.at(name))) return false;
  }
  return true;
}

const SafetensorsFile& file_of(const PartialRunEnd& end, const char* name) {
  return end.reached->files.at(name);
}

/// All weights and running statistics of a copy.
std::vector<std::byte> bytes_of(Session& session, const WeightBlocks& copy) {
  std::vector<std::byte> bytes;
  Queue& queue = session.model().compute().queue;
  for (const TensorSlot& slot : weight_slots(session.model(), copy)) {
    bytes.resize(bytes.size() + slot.bytes);
    queue.copy_to_host(bytes.data() + bytes.size() - slot.bytes, slot.data, slot.bytes);
  }
  queue.wait();
  return bytes;
}

}  // namespace

TEST_CASE("averaging leaves the trained weights as they are, and saves the copy that is judged") {
  const PartialRunEnd plain = averaged({});
  const PartialRunEnd judged = averaged({kEma});
  const PartialRunEnd kept = averaged({kEmaJudgedAsTrained});
  REQUIRE(plain.reached);
  REQUIRE(judged.reached);
  REQUIRE(kept.reached);
  CHECK(plain.reached->files.size() == 2);
  const SafetensorsFile& trained = file_of(plain, "weights.safetensors");
  CHECK(same_tensors(file_of(judged, "trained.safetensors"), trained));
  CHECK(same_tensors(file_of(kept, "weights.safetensors"), trained));
  const SafetensorsFile& average = file_of(judged, "weights.safetensors");
  CHECK(same_tensors(file_of(kept, "average.safetensors"), average));
  for (const char* name : {"conv1.weight", "bn1.running_mean"}) {
    CAPTURE(name);
    REQUIRE(average.find(name) != nullptr);
    CHECK_FALSE(std::ranges::equal(average.find(name)->bytes, trained.find(name)->bytes));
  }
  CHECK(plain.losses == judged.losses);
}

TEST_CASE("with shards all copies have the same bits on 1, 2 and 4 ranks, and after a resume") {
  for (const std::string& average : {kEma, kEmaJudgedAsTrained, kLookahead, kMuon}) {
    const PartialRunEnd whole = averaged({average});
    REQUIRE(whole.reached);
    for (const int ranks : {2, 4}) {
      const PartialRunEnd end = averaged({average}, ranks);
      REQUIRE(end.reached);
      CHECK(same_files(*end.reached, *whole.reached));
    }
    const PartialRunEnd first = averaged({average}, 2, nullptr, 3);
    REQUIRE(first.reached);
    const PartialRunEnd rest = averaged({average}, 1, &*first.reached);
    REQUIRE(rest.reached);
    CHECK(same_files(*rest.reached, *whole.reached));
  }
}

TEST_CASE("an average begins as the weights that are drawn, loaded or resumed from") {
  RankGroup alone{{}};
  Session session(read_run(kAveragedRun, {kEma}), {.threads = 1}, nullptr, alone);
  const ModelMemory& memory = session.model().memory();
  session.model().initialize(3);
  const std::vector<std::byte> drawn = bytes_of(session, memory.trained());
  CHECK(bytes_of(session, memory.averaged()) == drawn);
  const PartialRunEnd plain = averaged({});  // a checkpoint without an average
  REQUIRE(plain.reached);
  (void)restore(session, *plain.reached);
  CHECK(bytes_of(session, memory.trained()) != drawn);
  CHECK(bytes_of(session, memory.averaged()) == bytes_of(session, memory.trained()));
}

TEST_CASE("another judge restores both copies, and a run without an average the trained one") {
  const PartialRunEnd judged = averaged({kEma});
  REQUIRE(judged.reached);
  RankGroup alone{{}};
  Session other(read_run(kAveragedRun, {kEmaJudgedAsTrained}), {.threads = 1}, nullptr, alone);
  const CheckpointContent back = snapshot(other, restore(other, *judged.reached));
  const LoadedCheckpoint exchanged = reloaded(back);
  CHECK(same_tensors(exchanged.files.at("weights.safetensors"),
                     file_of(judged, "trained.safetensors")));
  CHECK(same_tensors(exchanged.files.at("average.safetensors"),
                     file_of(judged, "weights.safetensors")));
  Session plain(read_run(kAveragedRun), {.threads = 1}, nullptr, alone);
  const LoadedCheckpoint single = reloaded(snapshot(plain, restore(plain, *judged.reached)));
  CHECK(
      same_tensors(single.files.at("weights.safetensors"), file_of(judged, "trained.safetensors")));
  CHECK(single.files.size() == 2);
}

TEST_CASE("Lookahead changes the trained weights, which end as the slow ones") {
  const PartialRunEnd plain = averaged({}), first = averaged({kLookahead}, 1, nullptr, 3);
  const PartialRunEnd whole = averaged({"lookahead={every: 3, statistics: false}"});
  REQUIRE(plain.reached);
  REQUIRE(first.reached);
  REQUIRE(whole.reached);
  const SafetensorsFile& weights = file_of(whole, "weights.safetensors");
  const SafetensorsFile& slow = file_of(whole, "average.safetensors");
  const auto same = [](const SafetensorsFile& a, const SafetensorsFile& b, const char* name) {
    return std::ranges::equal(a.find(name)->bytes, b.find(name)->bytes);
  };
  CHECK_FALSE(same_tensors(weights, file_of(plain, "weights.safetensors")));
  CHECK(same(weights, slow, "conv1.weight"));
  CHECK_FALSE(same(weights, slow, "bn1.running_mean"));
  // After the third step the last pull was after the second.
  CHECK_FALSE(
      same_tensors(file_of(first, "weights.safetensors"), file_of(first, "average.safetensors")));
  CHECK(refusal([] {
          (void)read_run(kAveragedRun, {kEma, kLookahead});
        })
            .find("'lookahead' and 'average' exclude each other: each keeps the second copy of the "
                  "weights; remove one of them") != std::string::npos);
}

TEST_CASE("the first line says which copy is judged, and the key is checked") {
  RankGroup alone{{}};
  Session judged(read_run(kAveragedRun, {kEma}), {.threads = 1}, nullptr, alone);
  CHECK(banner_of(judged).copies == "their average (ema 0.9) is evaluated and saved");
  Session kept(read_run(kAveragedRun, {kEmaJudgedAsTrained}), {.threads = 1}, nullptr, alone);
  CHECK(banner_of(kept).copies == "evaluated and saved as trained, not their average (ema 0.9)");
  Session plain(read_run(kAveragedRun), {.threads = 1}, nullptr, alone);
  CHECK(banner_of(plain).copies.empty());
  const auto refused = [](const std::string& average) {
    return refusal([&] { (void)read_run(kAveragedRun, {"average=" + average}); });
  };
  CHECK(refused("{ema: 1}")
            .find("'ema' must be below 1, found 1: an average with that decay "
                  "would never change") != std::string::npos);
  CHECK(refused("{warmup: true}").find("'ema'") != std::string::npos);
}
