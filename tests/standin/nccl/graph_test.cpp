// Work in graphs.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

#include "played_ranks.h"

namespace standin::played {
namespace {

/// An all-reduce of each rank's data, recorded.
std::vector<std::shared_ptr<Graph>> recorded(const Ranks& ranks,
                                             std::vector<std::vector<float>>& data) {
  std::vector<std::shared_ptr<Graph>> graphs;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    on_gpu(data[rank]);
    Machine::get().begin_capture(ranks.stream(rank));
    CHECK(ranks.sum(rank, data[rank]) == ncclSuccess);
    graphs.push_back(Machine::get().end_capture(ranks.stream(rank)));
  }
  return graphs;
}

TEST_CASE("a recorded all-reduce is repeated in every replay") {
  const Ranks ranks(2);
  std::vector<std::vector<float>> data(2, std::vector<float>(300'000));
  const auto graphs = recorded(ranks, data);
  CHECK(Machine::get().move_on());
  for (int run = 1; run <= 3; ++run) {
    for (int rank = 0; rank < 2; ++rank) {
      data[rank].assign(data[rank].size(), static_cast<float>(run * (rank + 1)));
      Machine::get().launch(*graphs[rank], ranks.stream(rank));
    }
    CHECK(Machine::get().move_on());
    for (const auto& found : data) {
      CHECK(found == std::vector<float>(found.size(), static_cast<float>(3 * run)));
    }
  }
}

TEST_CASE("consecutive replays on a stream keep their order with other work") {
  const Ranks ranks(2);
  std::vector<std::vector<float>> data(2, std::vector<float>(8, 1.0F));
  const auto graphs = recorded(ranks, data);
  std::vector<float> extra[2] = {std::vector<float>(3, 1.0F), std::vector<float>(3, 1.0F)};
  Stream* side[2] = {};
  for (int rank = 0; rank < 2; ++rank) {
    on_gpu(extra[rank]);
    side[rank] = &Machine::get().make_stream(rank);
    Machine::get().launch(*graphs[rank], ranks.stream(rank));
    Machine::get().launch(*graphs[rank], ranks.stream(rank));
    CHECK(ranks.sum(rank, extra[rank], side[rank]) == ncclSuccess);
    Machine::get().launch(*graphs[rank], ranks.stream(rank));
    CHECK(Machine::get().move_on() == (rank == 1));
  }
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(data[rank] == std::vector<float>(8, 8.0F));
    CHECK(extra[rank] == std::vector<float>(3, 2.0F));
  }
}

TEST_CASE("a call that one rank records and the other does not hangs") {
  const Ranks ranks(2);
  std::vector<float> data[2] = {std::vector<float>(3), std::vector<float>(3)};
  on_gpu(data[0]);
  on_gpu(data[1]);
  Machine::get().begin_capture(ranks.stream(0));
  CHECK(ranks.sum(0, data[0]) == ncclSuccess);
  const auto graph = Machine::get().end_capture(ranks.stream(0));
  Machine::get().launch(*graph, ranks.stream(0));
  CHECK(ranks.sum(1, data[1]) == ncclSuccess);
  CHECK_FALSE(Machine::get().move_on());
  for (Stream& stream : Machine::get().streams) stream.works.clear();
}

/// Finalizing rank 0 does not end before `let_go()`, but does after it.
void check_leaving(Ranks& ranks, const std::function<void()>& let_go) {
  CHECK(ncclCommFinalize(ranks[0]) == ncclInProgress);
  CHECK(keeps([&] { return state_of(ranks[0]) == ncclInProgress; }));
  let_go();
  CHECK(settled(ranks[0]) == ncclSuccess);
  CHECK(ncclCommDestroy(ranks[0]) == ncclSuccess);
  ranks.gone(0);
}

TEST_CASE("a group is not left while its work is running") {
  Ranks ranks(2);
  std::vector<float> data(3, 1.0F);
  on_gpu(data);
  CHECK(ranks.sum(0, data) == ncclSuccess);
  check_leaving(ranks, [&] {
    CHECK(ranks.sum(1, data) == ncclSuccess);
    CHECK(Machine::get().move_on());
  });
}

TEST_CASE("a group is not left while a graph holds its work") {
  Ranks ranks(2);
  std::vector<std::vector<float>> data(2, std::vector<float>(3, 1.0F));
  auto graphs = recorded(ranks, data);
  check_leaving(ranks, [&] { graphs.clear(); });
}

TEST_CASE("aborting does not return while a graph holds work of the group") {
  Ranks ranks(2);
  std::vector<std::vector<float>> data(2, std::vector<float>(3, 1.0F));
  auto graphs = recorded(ranks, data);
  std::atomic<bool> returned = false;
  std::thread owner([&] {
    CHECK(ncclCommAbort(ranks[0]) == ncclSuccess);
    returned = true;
  });
  CHECK(keeps([&] { return !returned; }));
  graphs.clear();
  owner.join();
  ranks.gone(0);
}

TEST_CASE("a launch that CUDA refuses is NCCL's failure, and persists") {
  Ranks ranks(2);
  std::vector<float> data(3);
  Machine::get().refusal = cudaErrorStreamCaptureInvalidated;
  CHECK(ranks.sum(0, data) == ncclUnhandledCudaError);
  CHECK(std::string(ncclGetLastError(ranks[0])) ==
        "Cuda failure 'operation failed due to a previous error'");
  Machine::get().refusal = cudaSuccess;
  CHECK(ranks.sum(0, data) == ncclUnhandledCudaError);
}

TEST_CASE("a stream of another GPU is refused") {
  const Ranks ranks(2);
  std::vector<float> data(3);
  CHECK(ranks.sum(0, data, &ranks.stream(1)) == ncclUnhandledCudaError);
}

}  // namespace
}  // namespace standin::played
