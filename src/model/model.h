// A network with its loss and metrics, planned and bound on one device.
//
// The folder model holds one network on one device: its training graph, programs, memory and the
// upload of batches. It knows no optimizer step, no rank and no run folder.
//
// Several losses are one graph, whose root adds them (training_graph.h). Losses and metrics are of
// rows: samples, or with a label for each position of a sequence all positions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/feed/device_images.h"
#include "data/feed/feeder.h"
#include "device/device.h"
#include "model/batch_memory.h"
#include "model/compute.h"
#include "model/model_programs.h"
#include "model/training_graph.h"
#include "plan/program.h"
#include "tensor/layout.h"

namespace trainyard {

// What a program's batches give, collected on the device: sums of losses and metrics, outputs.

/// One launch (for every ResultTable::kMost of them) adds all sums of a batch: the loss, the
/// metrics in the order of the graph, and, with weights of samples, the sum of these and the number
/// of those that are not 0.
class BatchResults {
 public:
  /// Results of a bound program. Everything must outlive it.
  BatchResults(const Compute& compute, const TrainingGraph& graph, const ModelMemory& memory,
               const Program& program);

  /// All sums as one functor, if one launch has room for them.
  [[nodiscard]] std::optional<ResultSums> in_one() const;
  /// Enqueues adding the sums of the batch that the program has just run to the memory's results.
  void add() const;

 private:
  void append(const ResultValues& values);

  const Compute& compute_;
  std::vector<ResultTable> tables_;
  ResultTable common_;  // table without values
  double* totals_;
};

/// Collects the outputs of evaluated batches by the samples' indices, so that predictions, tables
/// per class and the like are arithmetic on the host. Its memory is ModelMemory's.
class OutputRows {
 public:
  /// `output` is the network's output [n, width] or [n] in the evaluation program, of any layout
  /// and type; memory was made for `samples` of them. All must outlive it.
  OutputRows(const Compute& compute, ModelMemory& memory, const TensorView& output,
             std::int64_t samples, int threads);
  /// Enqueues storing the valid rows of the batch that was evaluated last.
  void store();
  /// Waits for the rows of all batches since the last call, [samples, width]; zeros for samples
  /// that were not evaluated.
  [[nodiscard]] std::vector<float> take();

 private:
  const Compute& compute_;
  ModelMemory& memory_;
  TensorView plain_;     // the batch's outputs, in the arithmetic type
  ExecutorPtr reorder_;  // writes them
  std::int64_t samples_, width_;
};

/// Sums over the valid samples of batches, in double, batch after batch.
struct Totals {
  double loss = 0;
  std::vector<double> metrics;  // metric_sums() of them; see metric_values()
  std::int64_t samples = 0;

  void add(const Totals& other);
};

/// A split of the data: which images an evaluation reads.
enum class EvaluatedSplit { training, validation };

/// What has changed a model's weights: a step, trained weights from elsewhere, or their average
/// alone from elsewhere.
enum class WeightChange { step, load, average };

/// Two programs (training, evaluation) over one persistent arena.
class Model {
 public:
  /// Throws Error{memory} if it does not fit.
  Model(const TrainingGraph& graph, const Compute& compute, const ModelOptions& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] const TrainingGraph& graph() const { return graph_; }
  [[nodiscard]] const ModelPrograms& programs() const { return programs_; }
  [[nodiscard]] const BlockLayout& blocks() const { return programs_.blocks; }
  /// The graph that the plans hold: fused, with reorders; BlockEntry::node is an index into it.
  [[nodiscard]] const Graph& planned_graph() const { return eval().plan().laid_out.graph; }
  [[nodiscard]] ModelMemory& memory() { return *memory_; }
  [[nodiscard]] const ModelMemory& memory() const { return *memory_; }
  [[nodiscard]] Program& train() { return *programs_.train; }
  [[nodiscard]] const Program& train() const { return *programs_.train; }
  [[nodiscard]] Program& eval() { return *programs_.eval; }
  [[nodiscard]] const Program& eval() const { return *programs_.eval; }
  [[nodiscard]] const Compute& compute() const { return compute_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] std::size_t transient_bytes() const { return transient_->bytes(); }

  /// Writes the values of a parameter whose initializer reads the training samples.
  using FillFromData = std::function<void(const ParameterSpec&, std::span<float>)>;
  /// Fills weights and running statistics by their initializers; a weight depends only on the seed
  /// and its own name, or, with `fill`, on the training samples.
  void initialize(std::uint64_t seed, const FillFromData& fill = {});
  /// Enqueues what follows from new weights or running statistics: to be called after every change
  /// of them. Their average begins as what was loaded, and after a step follows it; both copies'
  /// packed weights follow. `pulls`: a window of a step with Lookahead.
  void publish_weights(WeightChange change, const RateWindow* pulls = nullptr);
  /// The copy that evaluation reads, and that is saved as the model's weights.
  [[nodiscard]] WeightBlocks judged_weights() const {
    return judges_average() ? memory_->averaged() : memory_->trained();
  }
  [[nodiscard]] bool judges_average() const { return average_ && average_->judged; }
  /// Finished epochs, for the random draws of the following batches.
  void set_epoch(std::int64_t epoch);
  /// The following batches are made on the device from these images, which outlive the model: of
  /// training and of evaluation, or, if batches bring their images, both the same. They are made by
  /// `pipeline`.
  void feed_from(const DeviceImages& train, const DeviceImages& eval, const Pipeline& pipeline);
  /// Copies a batch to the device; it may change once this returns.
  void load(const Batch& batch);
  /// Enqueues bringing the loaded batch, of this split, to where the programs read it, with its
  /// images as the first layer reads them. To be called before each run of a program; evaluate()
  /// does it itself.
  void take_batch(EvaluatedSplit split);
  /// Addresses of the work on a batch differ from slot to slot: see BatchMemory.
  [[nodiscard]] std::size_t batch_slot() const { return batch_memory_->slot(); }
  /// Enqueues adding the losses and metrics of the batch that `program` has just run to the sums.
  void add_results(const Program& program) {
    (&program == programs_.train.get() ? *train_results_ : *eval_results_).add();
  }
  [[nodiscard]] const BatchResults& train_results() const { return *train_results_; }
  /// Enqueues the evaluation of the loaded batch of `split`; its results are added to the sums.
  void evaluate(EvaluatedSplit split = EvaluatedSplit::validation) {
    evaluations_[static_cast<std::size_t>(split)].run(batch_slot());
  }
  /// The outputs of the evaluated batches of validation; null unless ModelOptions::kept_outputs.
  [[nodiscard]] OutputRows* output_rows() { return output_rows_.get(); }
  /// Enqueues moving the sums to `row`, [ModelMemory::Sizes::results] on the device, and clears
  /// them.
  void move_results(double* row);
  /// Waits for the sums, and clears them.
  [[nodiscard]] Totals take_totals();
  /// Samples loaded since the last call.
  [[nodiscard]] std::int64_t take_samples() { return std::exchange(samples_, 0); }

 private:
  void make_pack();
  void follow_average(bool restart, const RateWindow* pulls);
  /// In the order of set_parts(): fields, sample indices, then what images are made from.
  [[nodiscard]] std::vector<BatchPart> memory_of_parts();
  void add_image_parts(std::vector<BatchPart>& parts);
  void make_batch_memory();
  void make_reorders(int threads);
  void set_parts(const Batch& batch);
  void set_valid(std::int64_t valid);
  [[nodiscard]] RepeatedWork evaluation_of(EvaluatedSplit split);
  /// Where the loaded batch has its part of images number `index`.
  [[nodiscard]] std::byte* image_part(std::size_t index) const;

  TrainingGraph graph_;
  Compute compute_;
  int threads_;
  std::optional<AverageOptions> average_;
  ModelPrograms programs_;
  std::unique_ptr<ModelMemory> memory_;
  std::unique_ptr<DeviceBuffer> transient_;
  std::unique_ptr<BatchResults> train_results_, eval_results_;
  ExecutorPtr pack_;  // packs all weights; null: the executors read them as they are
  std::unique_ptr<OutputRows> output_rows_;
  // From the host's images to the first layer's, by BatchMemory::slot(); empty: not needed.
  std::vector<ExecutorPtr> reorder_images_;
  const DeviceImages* train_images_ = nullptr;  // null: the host makes the images
  const DeviceImages* eval_images_ = nullptr;
  std::unique_ptr<DeviceArray<SpatialTransform>> spatial_;  // transforms of the batch, with those
  std::unique_ptr<DeviceArray<ColourTransform>> colours_;
  std::unique_ptr<DeviceArray<PairMix>> mixes_;
  std::vector<std::span<const std::byte>> parts_;  // parts of the batch
  std::unique_ptr<BatchMemory> batch_memory_;
  std::int64_t epoch_ = 0;  // as on the device, like valid_
  std::int64_t valid_ = 0;
  std::int64_t samples_ = 0;
  std::array<RepeatedWork, 2> evaluations_;  // indexed by EvaluatedSplit
};

/// The value; a NaN loses its sign and payload. Which of two NaNs a sum propagates is unspecified,
/// so they depend on the number of ranks, and a file would have "-nan" instead of "nan".
[[nodiscard]] double with_plain_nan(double value);

/// Fills `totals` from a row of results (ResultRow).
void read_totals(std::span<const double> row, std::int64_t samples, Totals& totals);

/// The hash of weights, optimizer state and running statistics, as stored in memory. Waits for the
/// model's queue; `copy` is workspace reused between calls.
[[nodiscard]] std::string model_hash(const Model& model, std::vector<std::byte>& copy);

}  // namespace trainyard
