// Trials of engines for one convolution: each is run and timed, and must repeat its result. Timed
// are replays of recordings, as training steps are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/engines.h"
#include "device/device.h"

namespace trainyard::cudnn {

/// Milliseconds that a queue takes for what `work` enqueues.
using QueueTimer = std::function<double(const std::function<void()>& work)>;

/// Milliseconds of one of many runs in a row, the minimum of several replays: the host's launches
/// are not included. Infinite if it is hopelessly more than `best`. Throws what `run` throws, and
/// Error{device} if it cannot be recorded.
[[nodiscard]] double replay_milliseconds(Device& device, Queue& queue, const QueueTimer& time,
                                         const std::function<void()>& run, double best);

/// Runs once directly and once from a recording, to completion. Throws as replay_milliseconds()
/// does.
void replay_once(Device& device, Queue& queue, const std::function<void()>& run);

class Context;

/// The result of a trial.
struct TrialResult {
  double milliseconds = 0;   // time of a run, including the kernels needed for the bias
  std::string refusal = {};  // why it does not run, cannot be recorded or may not be chosen
};

class EngineTrial {
 public:
  virtual ~EngineTrial() = default;
  /// Returns infinite milliseconds if the plan is hopelessly slower than `best`. A faster one is
  /// run twice more if engines are to be deterministic, and refused if its results differ, whatever
  /// cuDNN's notes say. Throws Error{device} if the GPU itself has failed, after which no plan
  /// would run.
  [[nodiscard]] virtual TrialResult run(const EnginePlan& plan, double best) = 0;
  /// Runs and records a plan once. Returns TrialResult::refusal; throws as run() does.
  [[nodiscard]] virtual std::string refusal_of(const EnginePlan& plan) = 0;
};

/// What is tried: a graph without bias, and the channels of the bias that is to be added to its
/// output, or 0.
struct TrialSubject {
  ConvGraph graph;
  std::int64_t bias = 0;
  std::size_t workspace_bytes = 0;  // need of the plan that needs most
  bool timed = true;                // inputs have values, on which the time depends
};

/// On the GPU of the context, in its own memory, with random values if it is timed. The context
/// must outlive it.
[[nodiscard]] std::unique_ptr<EngineTrial> make_engine_trial(Context& context,
                                                             const TrialSubject& subject);

}  // namespace trainyard::cudnn
