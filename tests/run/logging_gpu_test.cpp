// Ranks with a GPU each, on GPUs simulated by the host: how they start, and how an error ends them.
#include "logging_gpu.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../base/temporary_folder.h"
#include "data/sets/make_shapes.h"
#include "rank_sessions.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kLoggedRun = R"(
name: tiny
network:
  input: [3, 8, 8]
  layers: [conv: {filters: 6, kernel: 3}, bn, relu, global_avg_pool, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 40}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 10, split: test}
  workers: 0
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
epochs: 1
)";

/// Trains some steps, with captured all-reduces.
void train(Session& session) {
  session.model().initialize(1);
  session.data().train_feeder->start(0);
  for (int update = 0; update < 3; ++update) {
    session.step().run([&]() -> const Batch& { return session.data().train_feeder->next(); });
  }
}

}  // namespace

TEST_CASE("an error aborts the group of a rank on a GPU before any memory is freed") {
  std::vector<GpuEvents> events(2);
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents& own = events[static_cast<std::size_t>(group.rank())];
    Session session(read_run(kLoggedRun), choice_of(logging_gpu(group, own)), nullptr, group);
    train(session);
    own.clear();
    throw Error(ErrorKind::device, "CUDA: cudaEventSynchronize failed");
  });
  for (const std::string& outcome : outcomes)
    CHECK(outcome.ends_with("cudaEventSynchronize failed"));
  for (const GpuEvents& own : events) {
    REQUIRE(own.size() > 1);
    CHECK(own.front() == "give up");
    CHECK(std::ranges::count(own, "give up") == 1);
  }
}

TEST_CASE("the queue of a GPU's all-reduces has high priority, and no other has") {
  GpuEvents events;
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents other;
    GpuEvents& own = group.rank() == 0 ? events : other;
    const Session session(read_run(kLoggedRun), choice_of(logging_gpu(group, own)), nullptr, group);
    CHECK(session.device().compute().sums != nullptr);
  });
  CHECK(outcomes == testing::Outcomes(2));
  CHECK(std::ranges::count(events, "high-priority queue") == 1);
}

TEST_CASE("a rank on a GPU that ends normally does not abort its group") {
  GpuEvents events;
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents other;
    GpuEvents& own = group.rank() == 0 ? events : other;
    Session session(read_run(kLoggedRun), choice_of(logging_gpu(group, own)), nullptr, group);
    // Which one it is differs from rank to rank.
    CHECK(session.device().text == "a GPU (simulated GPU), fp32");
    train(session);
  });
  CHECK(outcomes == testing::Outcomes(2));
  CHECK(std::ranges::count(events, "free") > 1);
  CHECK(std::ranges::count(events, "give up") == 0);
}

TEST_CASE(
    "a rank without a GPU among ranks with one is reported to all before the first all-reduce") {
  const testing::Outcomes outcomes = run_groups(3, [&](RankGroup& group) {
    GpuEvents events;
    DeviceChoice choice{.threads = 1, .no_gpu = "no NVIDIA driver was found"};
    if (group.rank() != 1) choice = choice_of(logging_gpu(group, events));
    const Session session(read_run(kLoggedRun), choice, nullptr, group);
  });
  const std::string text =
      "rank 0 (host0) has a GPU, and rank 1 (host1) has none: no NVIDIA driver was found; ranks "
      "train all on GPUs or all on CPUs: fix it there (train doctor), leave that machine "
      "out, or give --gpus 0";
  CHECK(outcomes == testing::Outcomes(3, text));
}

TEST_CASE("while engines are tried, the run's status and the other ranks are notified") {
  std::vector<RunPhase> phases;
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents events;
    const bool first = group.rank() == 0;
    DeviceChoice choice = choice_of(logging_gpu(
        group, events, first ? fails_to("make executors") : [](std::string_view) {}));
    if (first) choice.begins = [&](RunPhase phase) { phases.push_back(phase); };
    try {
      const Session session(read_run(kLoggedRun), choice, nullptr, group);
    } catch (const Error& error) {
      throw first_of_ranks(group, error);
    }
  });
  CHECK(phases == std::vector<RunPhase>{RunPhase::building});
  CHECK(outcomes[1] == "rank 0 (host0), step 0, choosing engines: CUDA: an illegal memory access");
}

TEST_CASE("training on batches uploaded as bytes is bit-identical to training on resident data") {
  const testing::TemporaryFolder folder;
  make_shapes(folder.path() / "set", {.train = 40, .test = 10});
  const std::string source = "{source: cifar10, root: " + (folder.path() / "set").string() + "}";
  const std::string run =
      "name: bytes\nnetwork: {input: [3, 32, 32], layers: [flatten, dense: 10]}"
      "\ndata:\n  train: " +
      source + "\n  val: " + source +
      "\n  preprocess: [mean_image: train]\n  augment: [shift: {x: 0.2, "
      "interpolation: bilinear}, hflip]\nbatch: {per_gpu: 8}\n"
      "loss: cross_entropy\noptimizer: {sgd: {lr: 0.001}}\nepochs: 1\n";
  const auto weights_after = [&](const std::string& resident, const std::string& feeding) {
    std::vector<float> weights;
    const testing::Outcomes outcomes = run_groups(1, [&](RankGroup& group) {
      GpuEvents events;
      Session session(read_run(run, {"data.resident=" + resident}),
                      choice_of(logging_gpu(group, events)), nullptr, group);
      CHECK(feeding_text(session.data(), session.device()) == feeding);
      train(session);
      const auto* const first = reinterpret_cast<const float*>(session.model().memory().weights());
      weights.assign(first, first + session.model().blocks().parameter_elements);
    });
    CHECK(outcomes.front() == "");
    return weights;
  };
  CHECK(weights_after("auto", "resident") == weights_after("never", "uploaded as bytes"));
}

TEST_CASE("ranks that share a GPU need no NCCL, and report their number") {
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents events;
    UsableGpus usable = logging_gpu(group, events);
    usable.libraries.back() = {
        .name = "NCCL", .problem = "libnccl.so.2 was not found", .several_gpus = true};
    usable.share = {.ranks = 2, .gpus = 1};
    const Session session(read_run(kLoggedRun), choice_of(std::move(usable)), nullptr, group);
    if (session.device().text != "cuda:0 (simulated GPU), fp32, 1 GPU shared by 2 ranks") {
      throw Error(ErrorKind::bug, session.device().text);
    }
  });
  CHECK(outcomes == testing::Outcomes(2));
}

TEST_CASE("ranks with a GPU each need NCCL, even if a process has only one GPU") {
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents events;
    UsableGpus usable = logging_gpu(group, events);
    usable.libraries.back() = {
        .name = "NCCL", .problem = "libnccl.so.2 was not found", .several_gpus = true};
    usable.asked = "1";
    usable.folders = {"/opt/nccl"};
    const Session session(read_run(kLoggedRun), choice_of(std::move(usable)), nullptr, group);
  });
  for (const std::string& outcome : outcomes) {
    CHECK(outcome.starts_with(
        "--gpus 1: NCCL: libnccl.so.2 was not found; looked in /opt/nccl; install it"));
  }
}
