#include "group.h"

#include <algorithm>

#include "failure.h"

namespace standin::nccl {

Group& Group::current() {
  thread_local Group group;
  return group;
}

void Group::add(const CommunicatorPointer& communicator, const Request& request) {
  auto found =
      std::ranges::find(calls_, communicator, [](const auto& entry) { return entry.first; });
  if (found == calls_.end()) found = calls_.insert(found, {communicator, {}});
  found->second.push_back(request);
}

void Group::fail(ncclResult_t result) {
  if (depth_ > 0) error_ = result;
}

ncclResult_t Group::end() {
  if (depth_ == 0) throw Failure(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  if (--depth_ > 0) return ncclSuccess;
  const ncclResult_t error = std::exchange(error_, ncclSuccess);
  auto calls = std::exchange(calls_, {});
  ncclResult_t answer = error;
  for (auto& [communicator, requests] : calls) {
    if (error != ncclSuccess) {
      communicator->set_state(error);
    } else if (const ncclResult_t result = communicator->enqueue(std::move(requests));
               answer == ncclSuccess || answer == ncclInProgress) {
      if (result != ncclSuccess) answer = result;
    }
  }
  return answer;
}

}  // namespace standin::nccl
