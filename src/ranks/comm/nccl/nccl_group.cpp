#include "ranks/comm/nccl/nccl_group.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "base/gpu_error.h"
#include "base/text.h"
#include "ranks/rendezvous/failure.h"

namespace trainyard::nccl {
namespace {

/// Waits slightly longer with every round: most answers arrive at once, a starting rank takes long.
void pause(int round) {
  constexpr int kQuickRounds = 1'000;
  if (round < kQuickRounds) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
}

double seconds_of(std::chrono::milliseconds limit) {
  return std::chrono::duration<double>(limit).count();
}

std::string late(std::chrono::milliseconds limit) {
  return fmt::format("not done after {} s; another rank has died, is stuck, or cannot be reached",
                     number_text(seconds_of(limit)));
}

ncclDataType_t type_of(DType type) {
  switch (type) {
    case DType::f64:
      return ncclFloat64;
    case DType::f16:
      return ncclFloat16;
    case DType::bf16:
      return ncclBfloat16;
    case DType::i32:
      return ncclInt32;
    default:
      TY_CHECK(type == DType::f32, "all-reduces are of f64, f32, f16, bf16 or i32");
      return ncclFloat32;
  }
}

/// NCCL calls that run together.
class CallGroup {
 public:
  explicit CallGroup(const Functions& nccl) : nccl_(nccl), worst_(nccl.group_start()) {}
  void note(ncclResult_t result) {
    if (worst_ == ncclSuccess || worst_ == ncclInProgress) worst_ = result;
  }
  /// Also after a failure, so that the group is closed. Returns the first result other than
  /// success.
  [[nodiscard]] ncclResult_t end() {
    note(nccl_.group_end());
    return worst_;
  }

 private:
  const Functions& nccl_;
  ncclResult_t worst_;
};

}  // namespace

ncclResult_t exchange(const Functions& nccl, ncclComm_t group, const Exchange& slices,
                      cudaStream_t stream) {
  CallGroup calls(nccl);
  for (int rank = 0; rank < slices.ranks; ++rank) {
    const std::size_t offset = static_cast<std::size_t>(rank) * slices.bytes;
    calls.note(nccl.send(slices.mine + offset, slices.bytes, ncclUint8, rank, group, stream));
    calls.note(nccl.receive(slices.out + offset, slices.bytes, ncclUint8, rank, group, stream));
  }
  return calls.end();
}

ncclResult_t sum_all(const Functions& nccl, ncclComm_t group, std::span<const SumPart> parts,
                     cudaStream_t stream) {
  CallGroup calls(nccl);
  for (const SumPart& part : parts) {
    if (part.count == 0) continue;
    calls.note(nccl.all_reduce(part.data, part.data, static_cast<std::size_t>(part.count),
                               type_of(part.type), ncclSum, group, stream));
  }
  return calls.end();
}

Group::Group(const Library& library, const Clock& clock, GroupIdentity identity,
             const ncclUniqueId& id, std::chrono::milliseconds limit)
    : library_(library), clock_(clock), identity_(std::move(identity)), limit_(limit) {
  const std::string operation = fmt::format("joining {} ranks", identity_.ranks);
  ncclConfig_t settings = config();
  try {
    const ncclResult_t result =
        library_.call().join(&communicator_, identity_.ranks, id, identity_.rank, &settings);
    if (result != ncclSuccess && result != ncclInProgress) {
      fail(operation, result);
    }
    settle(operation);
  } catch (const Error&) {
    // No destructor runs for an object whose constructor threw.
    if (communicator_ != nullptr) library_.call().give_up(communicator_);
    throw;
  }
}

Group::~Group() {
  // If an error ends this rank, the others do not leave with it, and after a CUDA error finalizing
  // may never end.
  if (failed_ || std::uncaught_exceptions() > errors_before_) give_up();
  if (communicator_ != nullptr) leave();
}

void Group::leave() noexcept {
  try {
    call("leaving", [](const Functions& nccl, ncclComm_t group) { return nccl.finalize(group); });
  } catch (const Error&) {
    return give_up();  // nothing to report it to
  }
  static_cast<void>(library_.call().destroy(communicator_));
}

void Group::give_up() noexcept {
  ncclComm_t group = std::exchange(communicator_, nullptr);
  if (group != nullptr) static_cast<void>(library_.call().give_up(group));
}

void Group::call(const std::string& operation,
                 const std::function<ncclResult_t(const Functions&, ncclComm_t)>& work) {
  const ncclResult_t result = work(library_.call(), communicator_);
  if (result != ncclSuccess && result != ncclInProgress) {
    fail(operation, result);
  }
  settle(operation);
}

void Group::wait_for(const std::string& operation, const std::function<bool()>& done) {
  const double deadline = clock_.seconds() + seconds_of(limit_);
  for (int round = 0; !done(); ++round) {
    const ncclResult_t now = state();
    if (now != ncclSuccess) fail(operation, now);
    if (clock_.seconds() > deadline) fail_late(operation);
    pause(round);
  }
}

void Group::fail(const std::string& operation, ncclResult_t result) {
  failed_ = true;
  const std::string text = text_of(operation, library_.text_of(result, communicator_));
  // NCCL checks its own CUDA calls, and so may be the first to see a broken GPU.
  if (result == ncclUnhandledCudaError) throw GpuError(text);
  throw device_error(text);
}

void Group::fail_late(const std::string& operation) {
  failed_ = true;
  throw device_error(text_of(operation, late(limit_)));
}

std::string Group::text_of(const std::string& operation, const std::string& why) const {
  return fmt::format("{}: NCCL: {}: {}", name_of_rank(identity_.rank, identity_.host), operation,
                     why);
}

ncclResult_t Group::state() const {
  ncclResult_t now = ncclSuccess;
  const ncclResult_t asked = library_.call().asynchronous_error(communicator_, &now);
  return asked == ncclSuccess ? now : asked;
}

void Group::settle(const std::string& operation) {
  const double deadline = clock_.seconds() + seconds_of(limit_);
  for (int round = 0;; ++round) {
    const ncclResult_t now = state();
    if (now == ncclSuccess) return;
    if (now != ncclInProgress) fail(operation, now);
    if (clock_.seconds() > deadline) fail_late(operation);
    pause(round);
  }
}

}  // namespace trainyard::nccl
