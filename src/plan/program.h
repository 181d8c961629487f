// A bound plan: executors with addresses, run in order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/executor.h"
#include "device/device.h"
#include "plan/blocks.h"
#include "plan/model_memory.h"
#include "plan/plan.h"

namespace trainyard {

/// A non-finite value and the step that first wrote it.
struct NonFinite {
  std::size_t step = 0;  // step of the plan
  std::string path;      // path of the layer
  std::string what;      // "output", "input gradient", "parameter gradient"
  Position where;        // its line in the YAML file
};

/// Time of one step of a program, for `train bench --layers`.
struct StepTime {
  std::string name;
  double seconds = 0;
  double gflop = 0;     // work of its direct form (flop_of)
  Algorithm algorithm;  // algorithm of its product
};

/// A gradient that is left packed.
struct PackedGradient {
  std::int64_t parameter = 0;  // its entry in BlockLayout::parameters
  WeightShape shape;
  TensorView packed;
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
  /// Reads `weights`, a copy in `memory`. `transient` holds plan().transient_bytes and may be
  /// shared by programs that run in turn.
  void bind(const ModelMemory& memory, const WeightBlocks& weights, std::byte* transient,
            std::uint64_t seed);
  /// From now on run() leaves gradients as the steps write them, packed, where those are kept and
  /// no step reads them unpacked: returns them; they are then not in the gradient block. After
  /// bind().
  [[nodiscard]] std::vector<PackedGradient> leave_packed();
  /// Whether run() runs a step.
  [[nodiscard]] bool runs(std::size_t index) const { return !steps_[index].left_out; }
  /// The forward pass: the steps before backward_begin(), of evaluation all.
  void forward() { run(0, backward_begin_); }
  /// The backward pass, with what it recomputes: the other steps.
  void backward() { run(backward_begin_, steps_.size()); }
  [[nodiscard]] std::size_t backward_begin() const { return backward_begin_; }
  /// The steps from `begin` to the one before `end` of plan().steps. What is enqueued afterwards
  /// follows all of them.
  void run(std::size_t begin, std::size_t end);
  /// One step alone, on the queue that it runs on: null where steps have no queues of their own.
  void run_step(std::size_t index) { steps_[index].executor->run(); }
  /// True for a step whose work the executor of a sibling before it does.
  [[nodiscard]] bool done_by_sibling(std::size_t index) const {
    return steps_[index].done_by_sibling;
  }
  [[nodiscard]] Queue* queue_of(std::size_t index) const {
    if (queues_ == nullptr) return nullptr;
    return plan_.steps[index].form.on_side_queue() ? &queues_->side : &queues_->main;
  }
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
    ExecutorPtr executor;
    StepTensors tensors;
    std::unique_ptr<Event> done;  // event of a step of the side queue
    bool done_by_sibling = false;
    bool left_out = false;  // see leave_packed()
  };
  void run_on_side_queue(const BoundStep& step);
  void make_executor(const ExecutorFactory& factory, const PlanStep& step, int threads,
                     StatisticsSum* statistics_sum);
  [[nodiscard]] ExecutorPtr make_unpack(const ExecutorFactory& factory, const PlanStep& step) const;
  [[nodiscard]] TensorView view_of(TensorId id) const;
  void bind_blocks(const ModelMemory& memory, const WeightBlocks& weights, const PlanStep& step,
                   StepTensors& tensors) const;

  Plan plan_;
  BlockLayout blocks_;
  std::size_t backward_begin_;
  std::vector<BoundStep> steps_;
  const StepQueues* queues_;        // null: one queue
  std::unique_ptr<Event> reached_;  // where the main queue is when a step of the side queue begins
  std::byte* inputs_ = nullptr;
  std::byte* gradients_ = nullptr;
  std::byte* transient_ = nullptr;
};

}  // namespace trainyard
