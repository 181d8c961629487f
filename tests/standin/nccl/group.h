// Calls between ncclGroupStart and ncclGroupEnd, which go on together. Every thread has its own; a
// call outside of one is a group by itself (group.cc and enqueue.cc of NCCL 2.28.9).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "communicator.h"

namespace standin::nccl {

using CommunicatorPointer = std::shared_ptr<Communicator>;

class Group {
 public:
  /// The one of this thread.
  static Group& current();

  void start() { ++depth_; }
  void add(const CommunicatorPointer& communicator, const Request& request);
  /// A call within it failed: nothing of it will be done.
  void fail(ncclResult_t result);
  /// At the outermost end begins what was called. Throws Failure where none was started.
  ncclResult_t end();

 private:
  int depth_ = 0;
  ncclResult_t error_ = ncclSuccess;
  std::vector<std::pair<CommunicatorPointer, std::vector<Request>>> calls_;
};

}  // namespace standin::nccl
