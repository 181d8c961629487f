// Calls between ncclGroupStart and ncclGroupEnd, which run together. Every thread has its own; a
// call outside a group is its own group (group.cc and enqueue.cc of NCCL 2.28.9).
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
  /// A call in the group failed: nothing of the group will be done.
  void fail(ncclResult_t result);
  /// At the outermost end, starts the calls. Throws Failure if no group was started.
  ncclResult_t end();

 private:
  int depth_ = 0;
  ncclResult_t error_ = ncclSuccess;
  std::vector<std::pair<CommunicatorPointer, std::vector<Request>>> calls_;
};

}  // namespace standin::nccl
