// Engines of one convolution on trial: each is run and timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "exec/cudnn/conv_graph.h"
#include "exec/cudnn/engines.h"

namespace trainyard::cudnn {

class Context;

/// How a plan did.
struct TrialResult {
  double milliseconds = 0;   // of a run, with what stands beside it for the bias
  std::string refusal = {};  // why it does not run, or cannot be recorded
};

class EngineTrial {
 public:
  virtual ~EngineTrial() = default;
  /// Infinitely many milliseconds if the plan is hopelessly slower than `best`. Throws
  /// Error{device} if the GPU itself has failed, after which no plan would run.
  [[nodiscard]] virtual TrialResult run(const EnginePlan& plan, double best) = 0;
  /// Runs and records a plan once. Why it does not, TrialResult::refusal; throws likewise.
  [[nodiscard]] virtual std::string refusal_of(const EnginePlan& plan) = 0;
};

/// What is on trial: a graph without bias, and the channels of the bias that is to be added to its
/// output, or 0.
struct TrialSubject {
  ConvGraph graph;
  std::int64_t bias = 0;
  std::size_t workspace_bytes = 0;  // of the plan that wants most
  bool timed = true;                // what is read has values, on which the time depends
};

/// On the GPU of the context, in memory of its own, with random values where it is timed. The
/// context outlives it.
[[nodiscard]] std::unique_ptr<EngineTrial> make_engine_trial(Context& context,
                                                             const TrialSubject& subject);

}  // namespace trainyard::cudnn
