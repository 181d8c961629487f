// The executors and launches of the processor with something around all their work.
#pragma once

#include <functional>
#include <memory>

#include "exec/executor.h"
#include "optim/update_launches.h"

namespace trainyard::test {

/// Runs work, in whatever way and whenever it wants.
class Around {
 public:
  virtual ~Around() = default;
  virtual void run(std::function<void()> work) = 0;
};

/// The executors of `executors`, each run by `around`; both outlive them.
[[nodiscard]] std::unique_ptr<ExecutorFactory> wrap_executors(Around& around,
                                                              const ExecutorFactory& executors);
/// The processor's launches in one thread, likewise.
[[nodiscard]] std::unique_ptr<UpdateLaunches> wrap_launches(Around& around);

}  // namespace trainyard::test
