// The optimizer step: from summed gradients to new weights and running statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/device.h"
#include "model/model.h"
#include "optim/blocks.h"
#include "optim/chunk_spans.h"
#include "optim/optimizer.h"
#include "optim/packed_form.h"
#include "train/matrix_batches.h"

namespace trainyard {

/// The norms of the parameters of an optimizer that needs them (needs_norms()).
class ParameterNorms {
 public:
  /// `segments`: the number of all parameters.
  ParameterNorms(const Compute& compute, const ChunkSpans& spans, std::size_t segments);
  [[nodiscard]] NormBlocks view() const;

 private:
  DeviceArray<SegmentSpans> segments_;
  DeviceArray<Norms> partials_;
  DeviceArray<Norms> norms_;
};

/// An optimizer and the spans that it updates.
struct OptimizerGroup {
  const Optimizer* optimizer;
  DeviceArray<ChunkSpan> spans;
  std::int64_t chunks = 0;             // chunks of these
  DeviceArray<double> running_number;  // one element, see rules.h
  std::optional<ParameterNorms> norms;
  std::optional<MatrixBatches> matrices;  // of a rule of matrices
};

/// What the two launches of a step take along of the work before and behind them.
struct MergedStep {
  ResultSums results;                  // results of the training program's batch
  DeviceArray<PackedForms> gradients;  // gradients that the program leaves packed, by parameter
  std::size_t gradient_bytes = 0;      // bytes that these refer to
  DeviceArray<PackedForms> weights;    // the trained ones
};

struct OptimizerStepOptions {
  double clip_norm = 0;  // bound of the gradients' L2 norm; 0: no clipping
  LossScale loss_scale;
  ParameterOverrides parameters;
  double samples = 1;                     // samples of a step, which its gradients are divided by
  const MicroBatches* of_step = nullptr;  // with the replicas whose statistics are summed
  BeginUpdate next;                       // begins the step that follows
  bool alone = false;  // a step is one pass on one rank, so no sum is between its launches
};

/// Where a step writes its row of results.
struct ResultRows {
  double* rows = nullptr;  // [capacity][width] on the device, written in turn
  std::int64_t width = 0;
  std::int64_t capacity = 0;
};

/// Unscales, adds L2 terms and takes the norm in one launch, then clips, applies the optimizer's
/// rule and updates running statistics in another, or in a rule's phases. Where the two are all
/// that a step needs (may_merge()), the first one also sums the batch's results and unpacks the
/// gradients, and the other one packs the weights and ends the step. A non-finite loss or gradient
/// on any rank prevents the update, and so do weights of 0 for all its samples.
class OptimizerStep {
 public:
  /// Model, optimizer and rows must outlive it.
  OptimizerStep(Model& model, const Optimizer& optimizer, const OptimizerStepOptions& options,
                const ResultRows& results);

  /// Continues after `finished` steps.
  void start_at(std::int64_t finished);
  /// Enqueues the step; the same work each time.
  void apply();
  /// Whether apply() sums the results of the training program, as Model::add_results() does.
  [[nodiscard]] bool sums_results() const { return merged_.has_value(); }
  /// Whether gradients are computed from a scaled loss.
  [[nodiscard]] bool scales_loss() const {
    return options_.loss_scale.start != 1 || options_.loss_scale.dynamic;
  }
  /// Whether a step with overflowing gradients is skipped and the loss scale halved.
  [[nodiscard]] bool skips_overflow() const { return options_.loss_scale.dynamic; }
  [[nodiscard]] const ParameterOverrides& parameters() const { return options_.parameters; }
  [[nodiscard]] bool has_regularisation() const { return has_l2_; }
  /// The sum of l2 * w^2 over all weights that have an L2 term; waits for the device.
  [[nodiscard]] double regularisation_loss();

 private:
  /// Enqueues what precedes the rules.
  void finish_gradients();
  /// Enqueues the rule of each group, and with the first the running statistics.
  void update();
  [[nodiscard]] UpdateBlocks blocks_of(const OptimizerGroup& group) const;
  [[nodiscard]] EndUpdate end_of_step() const;
  /// Whether a step is one pass on one rank and one rule without norms for all parameters, on a
  /// device that gains by fewer launches. Weights of samples must be summed before, since gradients
  /// are divided by their sum, and an average is packed too.
  [[nodiscard]] bool may_merge() const;
  [[nodiscard]] SpanSums sums() const { return {partials_.data(), finished_.data()}; }

  Model& model_;
  OptimizerStepOptions options_;
  std::vector<OptimizerGroup> groups_;
  ResultRows results_;
  bool has_l2_;
  DeviceArray<Segment> segments_;
  DeviceArray<ChunkSpan> spans_;
  DeviceArray<StatisticPolicy> statistic_rules_;  // indexed by chunk
  DeviceArray<BiasedMeans> biased_means_;
  DeviceArray<double> partials_;  // one for each span, of the norm's and the regulariser's sums
  DeviceArray<std::uint32_t> finished_;  // one element, see SpanSums
  DeviceArray<double> regularisation_;   // one element
  std::optional<MergedStep> merged_;
  UpdateBlocks blocks_;                     // with all spans
  std::vector<UpdateBlocks> group_blocks_;  // with those of each group
  StatisticBlocks statistics_;
  double time_decay_;  // decay of the span's own optimizer
};

}  // namespace trainyard
