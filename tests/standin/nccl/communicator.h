// One rank's communicator: its state, and its thread that joins, enqueues and leaves.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "operation.h"

namespace standin::nccl {

struct Identity {
  int rank = 0, ranks = 1;
  int device = 0;
  bool blocking = true;
};

/// A call of the program that enqueues work on a stream.
struct Request {
  enum class What { all_reduce, broadcast, all_gather, send, receive };
  What what = What::all_reduce;
  const char* name = "";  // name of the function
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  int root = 0;  // or the peer
  cudaStream_t stream = nullptr;

  [[nodiscard]] bool is_message() const { return what == What::send || what == What::receive; }
};

class Communicator {
 public:
  explicit Communicator(const Identity& identity);
  /// Its thread has ended before: abort() or finish().
  ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] const Identity& identity() const { return identity_; }
  /// The result of ncclCommGetAsyncError.
  [[nodiscard]] ncclResult_t state() const { return state_; }
  void set_state(ncclResult_t state) { state_ = state; }
  /// Throws Failure unless the previous operation has succeeded (init.cc, ncclCommEnsureReady).
  void require_ready() const;

  /// Start these operations, on the communicator's thread unless it blocks. They return
  /// ncclInProgress or, for a blocking communicator, the result when all is done.
  ncclResult_t join(const ncclUniqueId& id);
  ncclResult_t enqueue(std::vector<Request> requests);
  ncclResult_t finalize();

  /// Waits until all of its work is done and no graph holds any. A communicator that was finalized
  /// is already in this state.
  void finish();
  /// Ends everything that waits for other ranks, then waits as above: while a graph holds work it
  /// does not return (init.cc: ncclCommAbort runs commReclaim, which polls localPersistentRefs).
  void abort();

 private:
  ncclResult_t start(const char* name, std::function<void()> job);
  [[nodiscard]] ncclResult_t run(const char* name, const std::function<void()>& job);
  void meet(const ncclUniqueId& id, std::uint64_t bus);
  void require_own_gpu(std::uint64_t bus);
  void put(const std::vector<Request>& requests);
  void put_collectives(const std::vector<Request>& requests);
  void put(cudaStream_t stream, bool captured, std::unique_ptr<Operation> operation);
  [[nodiscard]] bool at_rest();

  Identity identity_;
  std::shared_ptr<Share> share_;
  std::shared_ptr<const int> graphs_ = std::make_shared<const int>(0);
  std::atomic<ncclResult_t> state_ = ncclSuccess;
  bool finalized_ = false;
  std::jthread thread_;
};

}  // namespace standin::nccl
