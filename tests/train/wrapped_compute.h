// The executors and launches of the CPU with a wrapper around all their work.
#pragma once

#include <functional>
#include <memory>

#include "compute/executor.h"
#include "optim/update_launches.h"

namespace trainyard::test {

/// Runs work, in any way and at any time.
class Around {
 public:
  virtual ~Around() = default;
  virtual void run(std::function<void()> work) = 0;
};

/// The executors of `executors`, each run through `around`; both outlive them.
[[nodiscard]] std::unique_ptr<ExecutorFactory> wrap_executors(Around& around,
                                                              const ExecutorFactory& executors);
/// The CPU's launches in one thread, run through `around` too.
[[nodiscard]] std::unique_ptr<UpdateLaunches> wrap_launches(Around& around);

}  // namespace trainyard::test
