// One rank's handle of an NCCL group: joined without blocking, every call monitored, aborted after
// a failure.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>

#include "base/clock.h"
#include "ranks/comm/communicator.h"
#include "ranks/comm/nccl/nccl_library.h"

namespace trainyard::nccl {

struct GroupIdentity {
  int rank = 0;
  int ranks = 1;
  std::string host;  // name of this machine, for messages
};

/// What each of `ranks` ranks has for each other rank: slices of `bytes`, GPU memory.
struct Exchange {
  const std::byte* mine = nullptr;
  std::byte* out = nullptr;
  std::size_t bytes = 0;
  int ranks = 1;
};
/// Communicator::all_to_all as one group of NCCL calls, which run together; returns the first
/// result other than success, if any.
[[nodiscard]] ncclResult_t exchange(const Functions& nccl, ncclComm_t group, const Exchange& slices,
                                    cudaStream_t stream);

/// All parts in one group of NCCL calls, which is one launch; returns the first result other than
/// success, if any.
[[nodiscard]] ncclResult_t sum_all(const Functions& nccl, ncclComm_t group,
                                   std::span<const SumPart> parts, cudaStream_t stream);

/// For one thread at a time. Not copyable.
class Group {
 public:
  /// Joins the group of `id`. Library and clock outlive it. Throws Error{device} naming the rank if
  /// NCCL fails, or if not all ranks have joined within `limit`, which applies to every call too.
  Group(const Library& library, const Clock& clock, GroupIdentity identity, const ncclUniqueId& id,
        std::chrono::milliseconds limit);
  /// Leaves the group in order, within the limit; after a failure, or during stack unwinding, gives
  /// it up.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] const GroupIdentity& identity() const { return identity_; }

  /// Aborts the group: kernels that wait for other ranks end. Recordings that hold its work must be
  /// destroyed first, or NCCL never frees its memory. No call may follow.
  void give_up() noexcept;
  /// Makes an NCCL call and returns when NCCL has accepted it: its work is then enqueued on its
  /// stream. Throws Error{device} "rank 1 (host): NCCL: OPERATION: why", a GpuError if CUDA failed.
  void call(const std::string& operation,
            const std::function<ncclResult_t(const Functions&, ncclComm_t)>& work);
  /// Returns when `done()` is true. Throws as above once NCCL has noticed a failure or the limit
  /// has passed.
  void wait_for(const std::string& operation, const std::function<bool()>& done);

 private:
  [[noreturn]] void fail(const std::string& operation, ncclResult_t result);
  [[noreturn]] void fail_late(const std::string& operation);
  [[nodiscard]] std::string text_of(const std::string& operation, const std::string& why) const;
  void leave() noexcept;
  [[nodiscard]] ncclResult_t state() const;
  void settle(const std::string& operation);

  const Library& library_;
  const Clock& clock_;
  GroupIdentity identity_;
  std::chrono::milliseconds limit_;
  ncclComm_t communicator_ = nullptr;  // null: given up
  bool failed_ = false;
  int errors_before_ = std::uncaught_exceptions();
};

}  // namespace trainyard::nccl
