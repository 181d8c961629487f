// A device whose memory is inaccessible to the host, like that of a GPU.
#pragma once

#include <memory>

#include "model/compute.h"

namespace trainyard::test {

/// The CPU with memory that can be read and written only while its queue, its executors or its
/// launches work: any other access ends the process. Initially it is all ones, NaN in every float
/// type, so that uninitialised reads show in results. Recorded work may not wait, allocate or copy
/// from or to the host.
class GuardedCompute {
 public:
  /// With these executors, which must outlive it.
  explicit GuardedCompute(const ExecutorFactory& executors);
  ~GuardedCompute();
  [[nodiscard]] Compute compute() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::test
