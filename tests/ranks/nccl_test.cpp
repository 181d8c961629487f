// NCCL without a GPU: the library is opened and queried, and the group runs on functions that
// simulate NCCL.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "../base/error_of.h"
#include "base/gpu_error.h"
#include "ranks/comm/nccl/nccl_group.h"
#include "ranks/comm/nccl/nccl_library.h"

namespace trainyard::nccl {
namespace {

using std::chrono::milliseconds;
using testing::error_of;

/// What the fake NCCL does next, and what was called. C functions can access only statics.
struct Script {
  ncclResult_t join = ncclInProgress;
  ncclResult_t call = ncclInProgress;
  int rounds = 2;  // polls answered with "in progress" before each `end`
  ncclResult_t end = ncclSuccess;
  int polls = 0;
  int blocking = -1;
  std::vector<std::string> calls = {};
  const char* reason = "socket closed";
};
Script script;

ncclComm_t handle() { return reinterpret_cast<ncclComm_t>(&script); }

ncclResult_t fake_join(ncclComm_t* group, int, ncclUniqueId, int, ncclConfig_t* settings) {
  script.calls.emplace_back("join");
  script.blocking = settings->blocking;
  *group = handle();
  script.polls = 0;
  return script.join;
}
ncclResult_t fake_state(ncclComm_t, ncclResult_t* state) {
  *state = ++script.polls > script.rounds ? script.end : ncclInProgress;
  return ncclSuccess;
}
ncclResult_t fake_finalize(ncclComm_t) {
  script.calls.emplace_back("finalize");
  script.polls = 0;
  return script.call;
}
ncclResult_t fake_destroy(ncclComm_t) {
  script.calls.emplace_back("destroy");
  return ncclSuccess;
}
ncclResult_t fake_give_up(ncclComm_t) {
  script.calls.emplace_back("give up");
  return ncclSuccess;
}
const char* fake_text(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited" : "system error";
}
const char* fake_reason(ncclComm_t) { return script.reason; }

Library fake_library() {
  script = {};
  Functions functions{};
  functions.join = fake_join;
  functions.asynchronous_error = fake_state;
  functions.finalize = fake_finalize;
  functions.destroy = fake_destroy;
  functions.give_up = fake_give_up;
  functions.error_string = fake_text;
  functions.last_error = fake_reason;
  return Library(functions);
}

/// Advances by a second whenever it is read, so that limits pass without waiting.
class RushingClock final : public Clock {
 public:
  [[nodiscard]] double seconds() const override { return ++seconds_; }
  [[nodiscard]] std::int64_t utc_seconds() const override { return 0; }

 private:
  mutable double seconds_ = 0;
};

const GroupIdentity kPlace{.rank = 1, .ranks = 4, .host = "node1"};

ncclResult_t some_call(const Functions&, ncclComm_t group) {
  CHECK(group == handle());
  script.polls = 0;
  return script.call;
}

TEST_CASE("a group is joined without blocking, used, and left in order") {
  const Library library = fake_library();
  const RushingClock clock;
  {
    Group group(library, clock, kPlace, {}, milliseconds(60'000));
    CHECK(script.blocking == 0);
    CHECK(script.polls == 3);
    group.call("work", some_call);
    CHECK(script.polls == 3);
    CHECK(group.identity().rank == 1);
  }
  CHECK(script.calls == std::vector<std::string>{"join", "finalize", "destroy"});
}

TEST_CASE("a group that not all ranks join is an error after the limit, and is aborted") {
  const Library library = fake_library();
  const RushingClock clock;
  script.rounds = 1'000'000;
  CHECK(error_of(ErrorKind::device,
                 [&] { Group(library, clock, kPlace, {}, milliseconds(30'000)); }) ==
        "rank 1 (node1): NCCL: joining 4 ranks: not done after 30 s; another rank has died, is "
        "stuck, or cannot be reached");
  CHECK(script.polls <= 31);
  CHECK(script.calls == std::vector<std::string>{"join", "give up"});
}

TEST_CASE("a call that NCCL refuses at once is an error with its text, and the group is aborted") {
  const Library library = fake_library();
  const RushingClock clock;
  {
    Group group(library, clock, kPlace, {}, milliseconds(60'000));
    script.call = ncclSystemError;
    CHECK(error_of(ErrorKind::device, [&] { group.call("broadcast of 5 bytes", some_call); }) ==
          "rank 1 (node1): NCCL: broadcast of 5 bytes: system error (socket closed)");
  }
  CHECK(script.calls == std::vector<std::string>{"join", "give up"});
}

TEST_CASE("an error that NCCL notices later is an error of the waiting call") {
  const Library library = fake_library();
  const RushingClock clock;
  Group group(library, clock, {.rank = 2, .ranks = 3}, {}, milliseconds(60'000));
  script.end = ncclRemoteError;
  CHECK(error_of(ErrorKind::device, [&] { group.call("all_gather", some_call); }) ==
        "rank 2: NCCL: all_gather: remote process exited (socket closed)");
}

TEST_CASE("a CUDA failure that NCCL sees is one of this rank's GPU, others are not") {
  const Library library = fake_library();
  const RushingClock clock;
  Group group(library, clock, kPlace, {}, milliseconds(60'000));
  const auto of_gpu = [&] {
    try {
      group.call("all_gather", some_call);
    } catch (const GpuError&) {
      return true;
    } catch (const Error&) {
    }
    return false;
  };
  script.call = ncclSystemError;
  CHECK_FALSE(of_gpu());
  script.call = ncclUnhandledCudaError;
  CHECK(of_gpu());
  script.call = ncclInProgress;
  script.end = ncclUnhandledCudaError;
  CHECK(of_gpu());
}

TEST_CASE("work that never ends is an error at the limit, or once NCCL has noticed a failure") {
  const Library library = fake_library();
  const RushingClock clock;
  Group group(library, clock, kPlace, {}, milliseconds(2'500));
  int asked = 0;
  group.wait_for("barrier", [&] { return ++asked == 2; });
  CHECK(asked == 2);
  CHECK(error_of(ErrorKind::device, [&] { group.wait_for("barrier", [] { return false; }); }) ==
        "rank 1 (node1): NCCL: barrier: not done after 2.5 s; another rank has died, is stuck, or "
        "cannot be reached");
  script.end = ncclRemoteError;
  CHECK(error_of(ErrorKind::device, [&] { group.wait_for("barrier", [] { return false; }); }) ==
        "rank 1 (node1): NCCL: barrier: remote process exited (socket closed)");
}

TEST_CASE("a group that cannot be left in order is aborted, without an error") {
  const Library library = fake_library();
  const RushingClock clock;
  {
    Group group(library, clock, kPlace, {}, milliseconds(60'000));
    script.rounds = 1'000'000;
  }
  CHECK(script.calls == std::vector<std::string>{"join", "finalize", "give up"});
}

TEST_CASE("a group whose rank ends with an error is aborted and not finalized") {
  const Library library = fake_library();
  const RushingClock clock;
  CHECK(error_of(ErrorKind::device, [&] {
          const Group group(library, clock, kPlace, {}, milliseconds(60'000));
          throw Error(ErrorKind::device, "an illegal address");
        }) == "an illegal address");
  CHECK(script.calls == std::vector<std::string>{"join", "give up"});
}

TEST_CASE("a group is aborted once, before its end") {
  const Library library = fake_library();
  const RushingClock clock;
  {
    Group group(library, clock, kPlace, {}, milliseconds(60'000));
    script.call = ncclSystemError;
    error_of(ErrorKind::device, [&] { group.call("broadcast", some_call); });
    CHECK(script.calls == std::vector<std::string>{"join"});
    group.give_up();
    CHECK(script.calls == std::vector<std::string>{"join", "give up"});
  }
  CHECK(script.calls == std::vector<std::string>{"join", "give up"});
}

/// A call of an exchange: "send 2 5 1" is slice 2 of 5 bytes to or from rank 1.
std::string slice_text(const char* call, const void* at, std::size_t bytes, int rank) {
  const auto offset = reinterpret_cast<std::uintptr_t>(at) % 4096;
  return std::string(call) + " " + std::to_string(offset) + " " + std::to_string(bytes) + " " +
         std::to_string(rank);
}
ncclResult_t fake_start() {
  script.calls.emplace_back("start");
  return ncclSuccess;
}
ncclResult_t fake_end() {
  script.calls.emplace_back("end");
  return ncclInProgress;
}
ncclResult_t fake_send(const void* from, std::size_t bytes, ncclDataType_t type, int rank,
                       ncclComm_t, cudaStream_t) {
  CHECK(type == ncclUint8);
  script.calls.push_back(slice_text("send", from, bytes, rank));
  return script.call;
}
ncclResult_t fake_receive(void* to, std::size_t bytes, ncclDataType_t type, int rank, ncclComm_t,
                          cudaStream_t) {
  CHECK(type == ncclUint8);
  script.calls.push_back(slice_text("receive", to, bytes, rank));
  return ncclSuccess;
}

ncclResult_t fake_exchange(ncclResult_t sending) {
  script = {.call = sending};
  Functions functions{};
  functions.group_start = fake_start;
  functions.group_end = fake_end;
  functions.send = fake_send;
  functions.receive = fake_receive;
  alignas(4096) static std::byte mine[4096], out[4096];
  return exchange(functions, handle(), {.mine = mine, .out = out, .bytes = 5, .ranks = 3}, nullptr);
}

TEST_CASE("an exchange is one group of calls, with a slice to and from every rank") {
  CHECK(fake_exchange(ncclSuccess) == ncclInProgress);
  CHECK(script.calls == std::vector<std::string>{"start", "send 0 5 0", "receive 0 5 0",
                                                 "send 5 5 1", "receive 5 5 1", "send 10 5 2",
                                                 "receive 10 5 2", "end"});
}

TEST_CASE("an exchange with a failed call is closed, and its error is returned") {
  CHECK(fake_exchange(ncclSystemError) == ncclSystemError);
  CHECK(script.calls.back() == "end");
}

ncclResult_t fake_sum(const void* from, void* to, std::size_t count, ncclDataType_t type,
                      ncclRedOp_t operation, ncclComm_t, cudaStream_t) {
  CHECK(from == to);
  CHECK(operation == ncclSum);
  script.calls.push_back("sum " + std::to_string(count) + " of " + std::to_string(type));
  return script.call;
}

TEST_CASE("sums of several parts are one group of calls, each of its own type") {
  std::array<std::byte, 64> memory{};
  const std::array parts{SumPart{memory.data(), 5, DType::f32},
                         SumPart{memory.data(), 7, DType::bf16},
                         SumPart{memory.data(), 3, DType::f64}};
  Functions functions{};
  functions.group_start = fake_start;
  functions.group_end = fake_end;
  functions.all_reduce = fake_sum;
  const auto type = [](ncclDataType_t value) { return std::to_string(value); };
  script = {.call = ncclSuccess};
  CHECK(sum_all(functions, handle(), parts, nullptr) == ncclInProgress);
  CHECK(script.calls == std::vector<std::string>{"start", "sum 5 of " + type(ncclFloat32),
                                                 "sum 7 of " + type(ncclBfloat16),
                                                 "sum 3 of " + type(ncclFloat64), "end"});
  script = {.call = ncclSystemError};
  CHECK(sum_all(functions, handle(), parts, nullptr) == ncclSystemError);
  CHECK(script.calls.back() == "end");
}

TEST_CASE("for a failure that a setting avoids, the setting is named") {
  const auto advice = [](const char* message) { return advice_on(message); };
  CHECK(advice("Error while creating shared memory segment /dev/shm/nccl-JmFn2p (size 9637888), "
               "error: No space left on device (28)")
            .find("--shm-size=1g") != std::string::npos);
  CHECK(
      advice("Error: failed to extend /dev/shm/nccl-JmFn2p to 9637892 bytes, error: No space left "
             "on device (28)")
          .find("--shm-size=1g") != std::string::npos);
  CHECK(
      advice("Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401")
          .starts_with("; set NCCL_NVLS_ENABLE=0"));
  CHECK(advice("MNNVL (cliqueSize 4) is available but not working on this system. Check the IMEX "
               "channel configuration")
            .starts_with("; set NCCL_MNNVL_ENABLE=0"));
  CHECK(advice("Failed to attach to shared memory segment: Permission denied").empty());
  CHECK(advice("socket closed").empty());
  const Library library = fake_library();
  script.reason = "Failed to bind NVLink SHARP (NVLS) Multicast memory";
  CHECK(library.text_of(ncclSystemError, handle()) ==
        "system error (Failed to bind NVLink SHARP (NVLS) Multicast memory); set "
        "NCCL_NVLS_ENABLE=0, which turns off sums in the NVLink switch");
}

TEST_CASE("communicators do not block, and leave the rest to NCCL") {
  const ncclConfig_t settings = config();
  CHECK(settings.blocking == 0);
  CHECK(settings.size == sizeof settings);
  CHECK(settings.minCTAs == NCCL_CONFIG_UNDEF_INT);
  CHECK(settings.netName == nullptr);
}

TEST_CASE("a library that is missing, or is a different one, is refused with advice") {
  const std::string missing =
      error_of(ErrorKind::device, [] { const Library library("libno_such_nccl.so.2"); });
  CHECK(missing.starts_with(
      "NCCL, which is needed for several GPUs, cannot be opened: libno_such_nccl.so.2"));
  CHECK(missing.ends_with("; install it, or set TRAINYARD_CUDA_PATH to its folder"));
  const std::string other = error_of(ErrorKind::device, [] { const Library library("libm.so.6"); });
  CHECK(other.find("libm.so.6 has no function ncclGetVersion; expected NCCL 2.") !=
        std::string::npos);
}

TEST_CASE("the library used in the build opens, and makes a new id for each group") {
  const Library library(TY_NCCL_LIBRARY);
  CHECK(library.version().starts_with("2."));
  const ncclUniqueId first = library.make_unique_id();
  const ncclUniqueId second = library.make_unique_id();
  CHECK(sizeof first == 128);
  CHECK_FALSE(std::ranges::equal(first.internal, second.internal));
  CHECK(library.text_of(ncclRemoteError, nullptr) ==
        "remote process exited or there was a network error");
}

}  // namespace
}  // namespace trainyard::nccl
