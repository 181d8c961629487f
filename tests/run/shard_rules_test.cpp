// `batch.shards` of a run file: what it can be combined with, and the errors for the rest.
#include <doctest/doctest.h>

#include <string>

#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/session/session.h"
#include "run_text.h"

using namespace trainyard;
using test::refusal;

namespace {

struct Text {
  std::string batch = "{total: 32, shards: 4}";
  std::string norm = "bn";
  int accumulate = 1;
  std::string more = {};  // further keys
};

RunConfig read_sharded(const Text& text = {}) {
  return test::read_run("name: tiny\nbatch: " + text.batch +
                        "\naccumulate: " + std::to_string(text.accumulate) + R"(
network:
  input: [3, 8, 8]
  layers: [conv: {filters: 4, kernel: 3}, )" +
                        text.norm + R"(, relu, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
loss: cross_entropy
optimizer: sgd
epochs: 1
)" + text.more);
}

std::string refusal(const Text& text) {
  return test::refusal([&] { (void)read_sharded(text); });
}

}  // namespace

TEST_CASE("shards are a power of two from 1 to 256") {
  for (std::int64_t shards = 1; shards <= 256; shards *= 2) {
    const RunConfig run =
        read_sharded({.batch = "{total: 512, shards: " + std::to_string(shards) + "}"});
    CHECK(run.batch.shards == shards);
  }
  CHECK(refusal({.batch = "{total: 30, shards: 6}"}) ==
        "2:28: 'shards' must be a power of two from 1 to 256, found 6");
  CHECK(refusal({.batch = "{total: 30, shards: 0}"}) ==
        "2:28: 'shards' must be a whole number from 1 to 256, found number 0");
  CHECK(refusal({.batch = "{total: 512, shards: 512}"}) ==
        "2:29: 'shards' must be a whole number from 1 to 256, found number 512");
  CHECK_FALSE(read_sharded({.batch = "{total: 32}"}).batch.shards.has_value());
}

TEST_CASE("shards are parts of a total that is divisible by those of all micro-batches") {
  CHECK(refusal({.batch = "{total: 36, shards: 4}", .accumulate = 2}) ==
        "2:8: 'total' 36 is not divisible by 8 (shards 4 x accumulate 2); choose a multiple of it");
  CHECK(refusal({.batch = "{total: 36, shards: 4}"}) == "accepted");
  CHECK(refusal({.batch = "{per_gpu: 8, shards: 4}"}) ==
        "2:29: 'shards' are parts of a global batch that does not depend on the number of ranks: "
        "give 'total' instead of 'per_gpu'");
}

TEST_CASE("the number of ranks divides the number of shards") {
  const RunConfig run = read_sharded();
  CHECK(shards_of_rank(run, 1) == 4);
  CHECK(shards_of_rank(run, 2) == 2);
  CHECK(shards_of_rank(run, 4) == 1);
  for (const std::int64_t ranks : {1, 2, 4}) CHECK(replica_batch(run, ranks) == 8);
  const std::string advice =
      "; use a number of ranks that divides it (a power of two up to 4), or other shards";
  CHECK(refusal([&] { (void)replica_batch(run, 3); }) ==
        "batch.shards 4 is not divisible by 3 ranks" + advice);
  CHECK(refusal([&] { (void)shards_of_rank(run, 8); }) ==
        "batch.shards 4 is not divisible by 8 ranks" + advice);
  CHECK(shards_of_rank(read_sharded({.batch = "{total: 33}"}), 3) == 1);
}

TEST_CASE("shards and synchronised batch norm exclude each other") {
  const auto outcome = [](const Text& text) {
    return refusal([&] { (void)build_network(read_sharded(text), 8); });
  };
  CHECK(outcome({.norm = "bn: {sync: true}"}) ==
        "6:43: layer 'bn1': 'sync: true' takes the statistics of all replicas together, but with "
        "'batch.shards' each shard has its own; leave out one of the two");
  CHECK(outcome({.batch = "{total: 32}", .norm = "bn: {sync: true}"}) == "accepted");
  CHECK(outcome({}) == "accepted");
}

TEST_CASE("gradients are sent between ranks as they are, or in 16 bits, but not those of shards") {
  using Transport = RanksConfig::Transport;
  const Text alone{.batch = "{total: 32}"};
  CHECK(read_sharded(alone).ranks.transport == Transport::fp32);
  Text text = alone;
  text.more = "ranks: {transport: bf16}";
  CHECK(read_sharded(text).ranks.transport == Transport::bf16);
  text.more = "ranks: {transport: fp16}";
  CHECK(read_sharded(text).ranks.transport == Transport::fp16);
  CHECK(refusal({.more = "ranks: {transport: fp32}"}) == "accepted");
  CHECK(
      refusal({.more = "ranks: {transport: bf16}"}) ==
      "13:8: 'transport: bf16' rounds once per rank, but 'batch.shards' requires bits that do not "
      "depend on the number of ranks; leave out one of the two");
}

TEST_CASE("gradients of fp64 are not sent in 16 bits") {
  const Text text{.batch = "{total: 32}", .more = "ranks: {transport: fp16}"};
  const auto open = [&](std::optional<Precision> precision) {
    RunConfig run = read_sharded(text);
    run.precision = precision;
    return refusal([&] { (void)make_device({.kind = DeviceChoice::Kind::reference}, run); });
  };
  const std::string refused =
      "'ranks.transport: fp16' would round the gradients of 'precision: fp64' to 16 bits; leave it "
      "out, or choose another precision";
  CHECK(open(Precision::fp64) == refused);
  CHECK(open(std::nullopt) == refused);  // the default of the reference device
  CHECK(open(Precision::fp32) == "accepted");
}

TEST_CASE("a session with shards trains a global batch in passes of one shard each") {
  RankGroup alone({});
  Session session(read_sharded({.accumulate = 2}), {.kind = DeviceChoice::Kind::reference}, nullptr,
                  alone);
  CHECK(session.batch().replica == 4);
  CHECK(session.batch().global == 32);
  CHECK(session.batch().steps == 3);
  CHECK(session.batch().dropped == 4);
  CHECK(session.step().passes() == 8);
  CHECK(session.step().samples() == 32);
  CHECK(session.data().train_feeder->batches_per_epoch() == 24);
  CHECK(session.data().val_feeder->batches_per_epoch() == 5);
}
