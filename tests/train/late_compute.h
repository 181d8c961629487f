// A device whose queues run later than the host enqueues, one ahead of the other as far as events
// allow.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "model/compute.h"
#include "rank_training.h"
#include "ranks/comm/communicator.h"
#include "wrapped_compute.h"

namespace trainyard::test {

class LateQueue;

/// The queues of a device, in the order in which they may run, and their shared state.
struct LateMachine {
  std::vector<LateQueue*> order = {};
  std::vector<const DeviceBuffer*> pinned = {};  // of allocate_host()

  /// Lets the first queue that can run one piece of work. False if none can.
  bool work();
  /// Lets the queues run until `done()`, and no further. Throws Error{bug} if that never happens.
  void work_until(const std::function<bool()>& done);
  void work_all();
  [[nodiscard]] bool is_pinned(const void* memory) const;
};

class LateQueue final : public Queue, public Around {
 public:
  explicit LateQueue(LateMachine& machine) : machine_(machine) {}
  ~LateQueue() override;
  LateQueue(const LateQueue&) = delete;
  LateQueue& operator=(const LateQueue&) = delete;

  /// Enqueues work; `may_begin` says whether what it waits for is done.
  void put(std::function<bool()> may_begin, std::function<void()> work);
  void run(std::function<void()> work) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void copy_from_host(void* to, const void* from, std::size_t bytes) override;
  void copy_to_host(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void wait() override;
  /// Runs one piece of work if it may; false if not.
  bool work();

 private:
  struct Work {
    std::function<bool()> may_begin;
    std::function<void()> run;
  };
  LateMachine& machine_;
  std::deque<Work> work_;
};

/// Its memory is the host's. `machine` outlives it, and decides when its queues run.
[[nodiscard]] std::unique_ptr<Device> make_late_device(LateMachine& machine);

/// All of a model's work on a late queue, and all-reduces and uploads each on another.
class LateCompute final : public RankDevice {
 public:
  /// Which of the first two queues runs ahead; uploads are last.
  enum class Ahead { model, sums };
  /// With these executors and ranks on the host, which outlive it.
  LateCompute(const ExecutorFactory& executors, Communicator& ranks, Ahead ahead);
  [[nodiscard]] Compute compute() override;
  /// `ranks` in the order of the late queues: its calls return immediately.
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  LateMachine machine_;
  LateQueue queue_{machine_}, sums_{machine_}, copies_{machine_};
  std::unique_ptr<Device> device_ = make_late_device(machine_);
  std::unique_ptr<ExecutorFactory> executors_;
  std::unique_ptr<UpdateLaunches> launches_;
  std::unique_ptr<Communicator> ranks_;
};

}  // namespace trainyard::test
