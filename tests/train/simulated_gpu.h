// A GPU simulated by the host: memory that the host cannot access, and queues that work at once or
// as late as possible.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "model/compute.h"
#include "rank_training.h"
#include "ranks/comm/communicator.h"

namespace trainyard::test {

/// Runs work, in any way and at any time.
class Around {
 public:
  virtual ~Around() = default;
  virtual void run(std::function<void()> work) = 0;
};

class SimulatedQueue;

/// The memory and the queues of a simulated GPU.
class SimulatedMachine {
 public:
  bool late = true;                         // queues work only when the host waits, else at once
  std::vector<SimulatedQueue*> order = {};  // in which late queues may work
  std::vector<const DeviceBuffer*> pinned = {};  // memory of allocate_host()

  /// Lets the first queue that can run one piece of work. False if none can.
  bool work();
  /// Lets the queues run until `done()`, and no further. Throws Error{bug} if that never happens.
  void work_until(const std::function<bool()>& done);
  void work_all();
  [[nodiscard]] bool is_pinned(const void* memory) const;

  /// Memory that can be read and written only within access(): any other access ends the process.
  /// Initially it is all ones, NaN in every float type, so that uninitialised reads show in
  /// results.
  void* add(std::size_t bytes);
  void remove(void* memory);
  void access(const std::function<void()>& work);
  /// Calls `work` as a recording, in which nothing may wait, be allocated or be copied from or to
  /// the host: those call refuse_in_recording(), which throws std::logic_error.
  void record(const std::function<void()>& work);
  void refuse_in_recording(const char* what) const;

 private:
  void protect(int access) const;
  std::map<void*, std::size_t> blocks_;
  int depth_ = 0;  // depth of nested accesses
  bool recording_ = false;
};

class SimulatedQueue final : public Queue, public Around {
 public:
  explicit SimulatedQueue(SimulatedMachine& machine) : machine_(machine) {}
  ~SimulatedQueue() override;
  SimulatedQueue(const SimulatedQueue&) = delete;
  SimulatedQueue& operator=(const SimulatedQueue&) = delete;

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
  SimulatedMachine& machine_;
  std::deque<Work> work_;
};

/// `machine` outlives it.
[[nodiscard]] std::unique_ptr<Device> make_simulated_device(SimulatedMachine& machine);

/// All of a model's work on a simulated queue, and uploads and all-reduces each on another.
class SimulatedGpu final : public RankDevice {
 public:
  /// Whether queues work at once, without one for all-reduces, or which of two late ones is ahead.
  enum class Order { at_once, model_ahead, sums_ahead };
  /// With these executors and ranks on the host (null: alone), which outlive it.
  explicit SimulatedGpu(const ExecutorFactory& executors, Order order = Order::at_once,
                        Communicator* ranks = nullptr);
  [[nodiscard]] Compute compute() override;
  /// `ranks` in the order of the queues: its calls return immediately.
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  bool has_sums_queue_;
  SimulatedMachine machine_;
  SimulatedQueue queue_{machine_}, sums_{machine_}, copies_{machine_};
  std::unique_ptr<Device> device_ = make_simulated_device(machine_);
  std::unique_ptr<ExecutorFactory> executors_;
  std::unique_ptr<UpdateLaunches> launches_;
  std::unique_ptr<Communicator> alone_ = make_single_communicator();
  std::unique_ptr<Communicator> ranks_;
};

}  // namespace trainyard::test
