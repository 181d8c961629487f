// Groups of calls, and invalid calls.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "played_ranks.h"

namespace standin::played {
namespace {

TEST_CASE("calls of a group start together at its outermost end") {
  const Ranks ranks(2);
  std::vector<float> a(3, 1.0F), b(5, 1.0F);
  on_gpu(a);
  on_gpu(b);
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(ncclGroupStart() == ncclSuccess);
    CHECK(ncclGroupStart() == ncclSuccess);
    CHECK(ranks.sum(rank, a) == ncclSuccess);
    CHECK(ncclGroupEnd() == ncclSuccess);
    CHECK(ranks.sum(rank, b) == ncclSuccess);
    CHECK(ranks.stream(rank).works.empty());
    CHECK(ncclGroupEnd() == ncclInProgress);
    CHECK(settled(ranks[rank]) == ncclSuccess);
    CHECK(ranks.stream(rank).works.size() == 1);
  }
  CHECK(Machine::get().move_on());
}

/// What each rank sums in a group of calls: two on its stream, one on another stream.
struct GroupedSums {
  std::vector<float> large = std::vector<float>(300'000, 1.0F);
  std::vector<float> small = std::vector<float>(5, 10.0F), other = std::vector<float>(7, 0.5F);

  ncclResult_t call(const Ranks& ranks, int rank, Stream* side) {
    for (const auto* data : {&large, &small, &other}) on_gpu(*data);
    CHECK(ncclGroupStart() == ncclSuccess);
    CHECK(ranks.sum(rank, large) == ncclSuccess);
    if (side != nullptr) CHECK(ranks.sum(rank, other, side) == ncclSuccess);
    CHECK(ranks.sum(rank, small) == ncclSuccess);
    CHECK(ncclGroupEnd() == ncclInProgress);
    return settled(ranks[rank]);
  }
};

TEST_CASE("the collectives of a group are one kernel for each stream") {
  const Ranks ranks(2);
  GroupedSums sums[2];
  for (int rank = 0; rank < 2; ++rank) {
    Stream& side = Machine::get().make_stream(rank);
    CHECK(sums[rank].call(ranks, rank, &side) == ncclSuccess);
    CHECK(ranks.stream(rank).works.size() == 1);
    CHECK(side.works.size() == 1);
  }
  CHECK(Machine::get().move_on());
  for (const GroupedSums& rank : sums) {
    CHECK(rank.large == std::vector<float>(300'000, 2.0F));
    CHECK(rank.small == std::vector<float>(5, 20.0F));
    CHECK(rank.other == std::vector<float>(7, 1.0F));
  }
}

TEST_CASE("the collectives of a group are one node of a graph, whose replays sum each of them") {
  const Ranks ranks(2);
  GroupedSums sums[2];
  std::vector<std::shared_ptr<Graph>> graphs;
  for (int rank = 0; rank < 2; ++rank) {
    Machine::get().begin_capture(ranks.stream(rank));
    CHECK(sums[rank].call(ranks, rank, nullptr) == ncclSuccess);
    graphs.push_back(Machine::get().end_capture(ranks.stream(rank)));
    CHECK(graphs.back()->size() == 1);
  }
  for (int run = 0; run < 2; ++run) {
    for (int rank = 0; rank < 2; ++rank) {
      Machine::get().launch(*graphs[rank], ranks.stream(rank));
    }
    CHECK(Machine::get().move_on());
  }
  for (const GroupedSums& rank : sums) {
    CHECK(rank.large == std::vector<float>(300'000, 4.0F));
    CHECK(rank.small == std::vector<float>(5, 40.0F));
  }
}

TEST_CASE("a group on a captured stream and one that is not is refused") {
  const Ranks ranks(2);
  GroupedSums sums;
  Stream& side = Machine::get().make_stream(0);
  Machine::get().begin_capture(ranks.stream(0));
  CHECK(sums.call(ranks, 0, &side) == ncclInvalidUsage);
  CHECK(std::string(ncclGetLastError(nullptr)).starts_with("Streams given to a communicator "));
  CHECK(Machine::get().end_capture(ranks.stream(0))->empty());
  CHECK(side.works.empty());
}

TEST_CASE("one invalid call of a group is its result, and nothing of the group is done") {
  const Ranks ranks(2);
  std::vector<float> data(3, 1.0F);
  CHECK(ncclGroupStart() == ncclSuccess);
  CHECK(ranks.sum(0, data) == ncclSuccess);
  CHECK(ncclBroadcast(data.data(), data.data(), 3, ncclFloat32, 2, ranks[0],
                      ranks.stream(0).handle()) == ncclInvalidArgument);
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(std::string(ncclGetLastError(nullptr)) ==
        "ncclBroadcast : invalid root 2 (root should be in the 0..2 range)");
  CHECK(ranks.stream(0).works.empty());
  CHECK(state_of(ranks[0]) == ncclInvalidArgument);
  // The group of another communicator is not affected.
  CHECK(ncclGroupStart() == ncclSuccess);
  CHECK(ranks.sum(1, data) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclInProgress);
  CHECK(settled(ranks[1]) == ncclSuccess);
}

TEST_CASE("an empty group succeeds, and an end without a start is a failure") {
  const Ranks ranks(2);
  CHECK(ncclGroupStart() == ncclSuccess);
  CHECK(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, ranks[0],
                      ranks.stream(0).handle()) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(std::string(ncclGetLastError(nullptr)) == "ncclGroupEnd: not in a group call.");
}

TEST_CASE("a call without a communicator is refused") {
  Machine::get().reset();
  CHECK(ncclAllReduce(nullptr, nullptr, 1, ncclFloat32, ncclSum, nullptr, nullptr) ==
        ncclInvalidArgument);
  CHECK(std::string(ncclGetLastError(nullptr)) == "ncclAllReduce : comm argument is NULL");
}

TEST_CASE("an invalid type is refused") {
  const Ranks ranks(2);
  CHECK(ncclAllGather(nullptr, nullptr, 1, ncclNumTypes, ranks[0], ranks.stream(0).handle()) ==
        ncclInvalidArgument);
  CHECK(std::string(ncclGetLastError(nullptr)) == "ncclAllGather : invalid type 12");
}

TEST_CASE("a failure requested for a call is its result, one for the thread is reported later") {
  std::vector<float> data(3);
  {
    const Ranks ranks(2);
    Machine::get().wished["ncclAllReduce"] = "ncclInternalError told to";
    CHECK(ranks.sum(0, data) == ncclInternalError);
    CHECK(std::string(ncclGetLastError(nullptr)) == "told to");
  }
  const Ranks ranks(2);
  Machine::get().wished["ncclLaunching"] = "ncclRemoteError";
  ncclAllReduce(data.data(), data.data(), 3, ncclFloat32, ncclSum, ranks[0],
                ranks.stream(0).handle());
  CHECK(settled(ranks[0]) == ncclRemoteError);
}

}  // namespace
}  // namespace standin::played
