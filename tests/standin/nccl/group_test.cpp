// Groups of calls, and invalid calls.
#include <doctest/doctest.h>

#include <string>

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
    CHECK(ranks.stream(rank).works.size() == 2);
  }
  CHECK(Machine::get().move_on());
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
