// Joining, state, leaving.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "played_ranks.h"

namespace standin::played {
namespace {

ncclUniqueId new_id() {
  ncclUniqueId id{};
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  return id;
}

std::string last_error() { return ncclGetLastError(nullptr); }

TEST_CASE("a rank joins without blocking, and has joined when all have") {
  Machine::get().reset();
  const ncclUniqueId id = new_id();
  ncclComm_t first = nullptr, second = nullptr;
  CHECK(begin_joining(first, id, 0, 2, 0) == ncclInProgress);
  CHECK(state_of(first) == ncclInProgress);
  CHECK(begin_joining(second, id, 1, 2, 1) == ncclInProgress);
  CHECK(settled(first) == ncclSuccess);
  CHECK(settled(second) == ncclSuccess);
  CHECK(ncclCommAbort(first) == ncclSuccess);
  CHECK(ncclCommAbort(second) == ncclSuccess);
}

TEST_CASE("a call before all have joined is refused with NCCL's text") {
  Machine::get().reset();
  ncclComm_t alone = nullptr;
  Stream& stream = Machine::get().make_stream(0);
  CHECK(begin_joining(alone, new_id(), 0, 2, 0) == ncclInProgress);
  CHECK(ncclAllReduce(&stream, &stream, 4, ncclFloat32, ncclSum, alone, stream.handle()) ==
        ncclInvalidArgument);
  CHECK(last_error() ==
        "Attempt to use communicator before the previous operation returned ncclSuccess");
  CHECK(ncclCommAbort(alone) == ncclSuccess);
}

TEST_CASE("one GPU for two ranks is refused, and a third rank waits for them") {
  Machine::get().reset();
  const ncclUniqueId id = new_id();
  ncclComm_t ranks[3] = {};
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(begin_joining(ranks[rank], id, rank, 3, rank == 2 ? 5 : 4) == ncclInProgress);
  }
  CHECK(settled(ranks[0]) == ncclInvalidUsage);
  CHECK(settled(ranks[1]) == ncclInvalidUsage);
  CHECK(last_error().starts_with("Duplicate GPU detected : rank "));
  CHECK(last_error().ends_with(" both on CUDA device 5000"));
  CHECK(state_of(ranks[2]) == ncclInProgress);
  for (const ncclComm_t rank : ranks) CHECK(ncclCommAbort(rank) == ncclSuccess);
}

TEST_CASE("a rank with a taken number waits forever, and so do ranks with different counts") {
  Machine::get().reset();
  const ncclUniqueId id = new_id();
  ncclComm_t first = nullptr, twin = nullptr, other = nullptr;
  CHECK(begin_joining(first, id, 0, 2, 0) == ncclInProgress);
  CHECK(begin_joining(twin, id, 0, 2, 1) == ncclInProgress);
  CHECK(begin_joining(other, id, 1, 3, 2) == ncclInProgress);
  for (const ncclComm_t rank : {first, twin, other}) CHECK(state_of(rank) == ncclInProgress);
  for (const ncclComm_t rank : {first, twin, other}) CHECK(ncclCommAbort(rank) == ncclSuccess);
}

TEST_CASE("the id of a process that has ended is refused") {
  Machine::get().reset();
  int pipe_ends[2] = {};
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const ncclUniqueId id = new_id();
    static_cast<void>(!write(pipe_ends[1], &id, sizeof id));
    _exit(0);
  }
  ncclUniqueId id{};
  REQUIRE(read(pipe_ends[0], &id, sizeof id) == sizeof id);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  for (const int end : pipe_ends) close(end);
  ncclComm_t rank = nullptr;
  CHECK(begin_joining(rank, id, 1, 2, 0) == ncclInProgress);
  CHECK(settled(rank) == ncclSystemError);
  CHECK(ncclCommAbort(rank) == ncclSuccess);
  CHECK(begin_joining(rank, ncclUniqueId{}, 0, 1, 0) == ncclInProgress);
  CHECK(settled(rank) == ncclSystemError);
  CHECK(ncclCommAbort(rank) == ncclSuccess);
}

TEST_CASE("every id is different") {
  const ncclUniqueId one = new_id(), other = new_id();
  CHECK(std::memcmp(one.internal, other.internal, sizeof one.internal) != 0);
}

TEST_CASE("invalid arguments of joining are refused at once") {
  Machine::get().reset();
  const ncclUniqueId id = new_id();
  ncclComm_t rank = nullptr;
  CHECK(begin_joining(rank, id, 2, 2, 0) == ncclInvalidArgument);
  CHECK(last_error() == "Invalid rank requested : 2/2");
  CHECK(rank == nullptr);
  CHECK(ncclCommInitRankConfig(nullptr, 1, id, 0, nullptr) == ncclInvalidArgument);
  ncclConfig_t config{};
  CHECK(ncclCommInitRankConfig(&rank, 1, id, 0, &config) == ncclInvalidArgument);
  CHECK(last_error() == "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  CHECK(ncclCommInitRankConfig(&rank, 1, id, 0, &config) == ncclInvalidArgument);
  CHECK(last_error() == "Invalid config blocking attribute value 2");
}

TEST_CASE("no rank joins with a GPU that has failed") {
  Machine::get().reset();
  break_device(3, cudaErrorIllegalAddress);
  ncclComm_t rank = nullptr;
  CHECK(begin_joining(rank, new_id(), 0, 1, 3) == ncclUnhandledCudaError);
  CHECK(last_error() == "Cuda failure 'an illegal memory access was encountered'");
}

TEST_CASE("a handle ends with its communicator, and is finalized once") {
  Ranks ranks(2);
  const ncclComm_t first = ranks[0];
  CHECK(ncclCommFinalize(first) == ncclInProgress);
  CHECK(settled(first) == ncclSuccess);
  CHECK(ncclCommFinalize(first) == ncclInvalidArgument);
  ranks.abort(0);
  ncclResult_t state = ncclSuccess;
  CHECK(ncclCommGetAsyncError(first, &state) == ncclInvalidArgument);
  CHECK(last_error() == "Error: corrupted comm object detected");
  CHECK(ncclCommAbort(first) == ncclInvalidArgument);
  CHECK(ncclCommAbort(nullptr) == ncclSuccess);
  ranks.leave(1);
}

TEST_CASE("a communicator that blocks returns when it is done") {
  Machine::get().reset();
  ncclComm_t rank = nullptr;
  CHECK(ncclCommInitRankConfig(&rank, 1, new_id(), 0, nullptr) == ncclSuccess);
  Stream& stream = Machine::get().make_stream(0);
  std::vector<float> data(5, 2.0F), out(5);
  on_gpu(data);
  on_gpu(out);
  CHECK(ncclAllGather(data.data(), out.data(), 5, ncclFloat32, rank, stream.handle()) ==
        ncclSuccess);
  CHECK(Machine::get().move_on());
  CHECK(out == data);
  CHECK(ncclCommFinalize(rank) == ncclSuccess);
  CHECK(ncclCommDestroy(rank) == ncclSuccess);
}

TEST_CASE("failures occur where they are requested, at once or in the communicator's thread") {
  Machine::get().reset();
  Machine::get().wished["ncclGetUniqueId"] = "ncclSystemError no socket interface found";
  ncclUniqueId id{};
  CHECK(ncclGetUniqueId(&id) == ncclSystemError);
  CHECK(last_error() == "no socket interface found");
  Machine::get().wished = {{"ncclJoining", "ncclRemoteError"}};
  id = new_id();
  ncclComm_t rank = nullptr;
  CHECK(begin_joining(rank, id, 0, 1, 0) == ncclInProgress);
  CHECK(settled(rank) == ncclRemoteError);
  CHECK(ncclCommAbort(rank) == ncclSuccess);
}

TEST_CASE("version and texts are NCCL's") {
  int version = 0;
  CHECK(ncclGetVersion(&version) == ncclSuccess);
  CHECK(version == NCCL_VERSION_CODE);
  CHECK(ncclGetVersion(nullptr) == ncclInvalidArgument);
  CHECK(std::string(ncclGetErrorString(ncclInProgress)) == "NCCL operation in progress");
}

}  // namespace
}  // namespace standin::played
