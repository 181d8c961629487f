// A device whose memory is closed to the host, as that of a GPU is.
#pragma once

#include <memory>

#include "model/compute.h"

namespace trainyard::test {

/// The CPU with memory that can be read and written only while its queue, its executors or its
/// launches work: any other access ends the process. It begins as all ones, NaN in every float
/// type, so that reading what nobody wrote shows in results. Recorded work may neither wait,
/// allocate nor copy from or to the host.
class GuardedCompute {
 public:
  /// Of these executors, which must outlive it.
  explicit GuardedCompute(const ExecutorFactory& executors);
  ~GuardedCompute();
  [[nodiscard]] Compute compute() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::test
