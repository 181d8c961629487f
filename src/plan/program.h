// A bound plan: executors with addresses, run in order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "exec/executor.h"
#include "plan/plan.h"

namespace trainyard {

/// The persistent memory of a rank: flat blocks, state and inputs, on the device. The host reads
/// and writes it only through the queue.
class ModelMemory {
 public:
  struct Sizes {
    DType type = DType::f32;  // of parameters, gradients, state and statistics: f32 or f64
    int slots = 0;            // optimizer state blocks
    std::size_t input_bytes = 0;
    std::size_t staging_bytes = 0;  // of images before conversion to the input's layout and type
    std::int64_t batch = 1;
    bool accumulates = false;  // has a second gradient block for the sum over micro-batches
    std::int64_t shards = 1;   // of a micro-batch, a power of two: log2(shards) blocks for their
                               // sums
    std::int64_t results = 0;  // doubles per batch: its loss and metrics
  };
  /// The offset of each part, in bytes, in this order; `bytes` is the total.
  struct Places {
    std::size_t weights = 0, gradients = 0, gradient_bytes = 0, shard_sums = 0, gradient_sum = 0;
    std::size_t slots = 0, slot_bytes = 0;
    std::size_t running = 0, inputs = 0, staging = 0, state = 0, sample_index = 0, results = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] static Places places(const BlockLayout& blocks, const Sizes& sizes);
  /// Zeroed on `queue`.
  ModelMemory(Device& device, Queue& queue, const BlockLayout& blocks, const Sizes& sizes);

  [[nodiscard]] DType type() const { return sizes_.type; }
  [[nodiscard]] std::int64_t batch() const { return sizes_.batch; }
  [[nodiscard]] std::byte* weights() const { return at(places_.weights); }
  [[nodiscard]] std::int64_t shards() const { return sizes_.shards; }
  /// Gradients of this batch; the statistics of the batch follow as the tail.
  [[nodiscard]] std::byte* gradients() const { return at(places_.gradients); }
  /// log2(shards()) blocks like gradients(), shard_sum_stride() bytes apart, for the sums over
  /// shards; see ShardSum, which leaves the total in the first.
  [[nodiscard]] std::byte* shard_sums() const { return at(places_.shard_sums); }
  [[nodiscard]] std::size_t shard_sum_stride() const { return places_.gradient_bytes; }
  /// Sum over shards and micro-batches; without accumulation the sum over shards, and gradients()
  /// if there is one shard.
  [[nodiscard]] std::byte* gradient_sum() const { return at(places_.gradient_sum); }
  [[nodiscard]] std::byte* slot(int index) const;
  [[nodiscard]] int slots() const { return sizes_.slots; }
  [[nodiscard]] std::byte* running() const { return at(places_.running); }
  [[nodiscard]] std::byte* inputs() const { return at(places_.inputs); }
  [[nodiscard]] std::byte* staging() const { return at(places_.staging); }
  [[nodiscard]] StepState* state() const { return reinterpret_cast<StepState*>(at(places_.state)); }
  [[nodiscard]] std::int64_t* sample_index() const {
    return reinterpret_cast<std::int64_t*>(at(places_.sample_index));
  }
  /// The sums of losses and metrics over the batches since they were last read.
  [[nodiscard]] double* results() const { return reinterpret_cast<double*>(at(places_.results)); }
  [[nodiscard]] std::size_t bytes() const { return buffer_->bytes(); }

 private:
  [[nodiscard]] std::byte* at(std::size_t offset) const {
    return static_cast<std::byte*>(buffer_->data()) + offset;
  }

  Sizes sizes_;
  Places places_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

/// A non-finite value and the step that first wrote it.
struct NonFinite {
  std::size_t step = 0;  // of the plan
  std::string path;      // of the layer
  std::string what;      // "output", "input gradient", "parameter gradient"
  Position where;        // its line in the YAML file
};

/// Time of one step of a program, for `train bench --layers`.
struct StepTime {
  std::string name;
  double seconds = 0;
};

/// A plan with its executors. Built in two stages: the constructor makes the executors and plans
/// the memory that they need; bind() fixes addresses. After that run() allocates nothing.
class Program {
 public:
  /// `factory` and `statistics_sum` (null: one replica) must outlive the program. A workspace above
  /// the target's cap is a bug.
  Program(Plan plan, const BlockLayout& blocks, const ExecutorFactory& factory, int threads,
          StatisticsSum* statistics_sum);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// `transient` holds plan().transient_bytes and may be shared by programs that run in turn.
  void bind(const ModelMemory& memory, std::byte* transient, std::uint64_t seed);
  void run() { run(0, steps_.size()); }
  /// The steps from `begin` to the one before `end` of plan().steps.
  void run(std::size_t begin, std::size_t end);
  /// Runs step by step and returns the first one that writes a non-finite value (--eager, and the
  /// search for the cause). The steps after it run too, since other replicas may wait for their
  /// sums. Waits for `queue`, the one that the executors run on.
  [[nodiscard]] std::optional<NonFinite> run_checked(Queue& queue);
  /// Runs once, step by step, waiting for `queue`, and adds each step's time to `times` (sized by
  /// the first call).
  void run_timed(Queue& queue, std::vector<StepTime>& times);
  /// The tensor that holds a value (id of the graph before layout), after bind().
  [[nodiscard]] TensorView view(ValueId value) const;

 private:
  struct BoundStep {
    std::unique_ptr<Executor> executor;
    StepTensors tensors;
  };
  void make_executor(const ExecutorFactory& factory, const PlanStep& step, int threads,
                     StatisticsSum* statistics_sum);
  [[nodiscard]] TensorView view_of(TensorId id) const;
  void bind_blocks(const ModelMemory& memory, const PlanStep& step, StepTensors& tensors) const;

  Plan plan_;
  BlockLayout blocks_;
  std::vector<BoundStep> steps_;
  std::byte* inputs_ = nullptr;
  std::byte* gradients_ = nullptr;
  std::byte* transient_ = nullptr;
};

}  // namespace trainyard
