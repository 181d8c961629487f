#include "played_ranks.h"

#include <doctest/doctest.h>

#include <thread>

namespace standin::played {

ncclResult_t begin_joining(ncclComm_t& rank, const ncclUniqueId& id, int number, int ranks,
                           int device) {
  current_device() = device;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return ncclCommInitRankConfig(&rank, ranks, id, number, &config);
}

ncclResult_t state_of(ncclComm_t rank) {
  ncclResult_t state = ncclSuccess;
  if (ncclCommGetAsyncError(rank, &state) != ncclSuccess) FAIL("no state");
  return state;
}

ncclResult_t settled(ncclComm_t rank) {
  for (;;) {
    const ncclResult_t state = state_of(rank);
    if (state != ncclInProgress) return state;
    std::this_thread::yield();
  }
}

bool keeps(const std::function<bool()>& holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (!holds()) return false;
    std::this_thread::yield();
  }
  return true;
}

Ranks::Ranks(int ranks) : all_(ranks) {
  Machine::get().reset();
  ncclUniqueId id{};
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  for (int rank = 0; rank < ranks; ++rank) {
    REQUIRE(begin_joining(all_[rank], id, rank, ranks, rank) == ncclInProgress);
    streams_.push_back(&Machine::get().make_stream(rank));
  }
  for (const ncclComm_t rank : all_) REQUIRE(settled(rank) == ncclSuccess);
}

Ranks::~Ranks() {
  for (int rank = 0; rank < size(); ++rank) {
    if (all_[rank] != nullptr) abort(rank);
  }
}

ncclResult_t Ranks::sum(int rank, std::vector<float>& data, Stream* stream) const {
  const ncclResult_t answer =
      ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, all_[rank],
                    (stream == nullptr ? *streams_[rank] : *stream).handle());
  return answer == ncclInProgress ? settled(all_[rank]) : answer;
}

void Ranks::leave(int rank) {
  CHECK(ncclCommFinalize(all_[rank]) == ncclInProgress);
  CHECK(settled(all_[rank]) == ncclSuccess);
  CHECK(ncclCommDestroy(all_[rank]) == ncclSuccess);
  all_[rank] = nullptr;
}

void Ranks::abort(int rank) {
  // Its streams continue meanwhile, as a GPU's would.
  std::jthread device([](const std::stop_token& end) {
    while (!end.stop_requested()) {
      static_cast<void>(Machine::get().move_on());
      std::this_thread::yield();
    }
  });
  CHECK(ncclCommAbort(all_[rank]) == ncclSuccess);
  all_[rank] = nullptr;
}

}  // namespace standin::played
