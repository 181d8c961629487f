// The measurements of a run as events, and the sinks that receive them.
//
// The folder report holds what a run prints and leaves for people and scripts: CSV, logs, console
// lines, plots, summary, status. It needs neither plan nor data, and decides nothing about
// training.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

/// One metric ("accuracy", "top5_accuracy"); empty = not measured.
struct MetricValue {
  std::string name;
  std::optional<double> training;    // over the epoch, with augmentation
  std::optional<double> validation;  // value at the epoch's end
  std::optional<double> clean = {};  // value on training samples, measured as the validation is
  std::string fault = {};            // why `validation` is not a number, if that is known
};

/// A column of metrics.csv and its value in a row.
struct NamedValue {
  std::string name;
  double value = 0;
  bool operator==(const NamedValue&) const = default;
};

/// Columns of one row of metrics.csv.
struct EpochValues {
  std::int64_t epoch = 0;
  std::vector<NamedValue> values;
};

/// A finished epoch.
struct EpochRow {
  std::int64_t epoch = 0;            // finished epochs, from 1
  std::int64_t step = 0;             // finished optimizer steps of the run
  std::int64_t samples = 0;          // training samples of the run
  double loss = 0;                   // mean over the epoch's samples, without regularisation
  std::optional<double> reg_loss;    // the regularisation's part, if it is in the loss
  std::optional<double> total_loss;  // loss + reg_loss
  std::optional<double> val_loss;
  std::optional<double> clean_loss;  // see MetricValue::clean
  std::vector<MetricValue> metrics;  // "accuracy" first if there is one
  double lr = 0;                     // rate of the epoch's last step, Keras's decay included
  std::optional<double> grad_norm;   // mean over the epoch, before clipping, L2 included
  std::int64_t skipped_steps = 0;    // skipped in the epoch
  std::int64_t counted = 1;          // samples (or positions) that loss and metrics count
  std::int64_t val_counted = 1;
  std::int64_t earlier_steps = 0;  // steps of the epoch taken before the run was resumed
  bool is_best = false;
  double elapsed_s = 0;               // since the run began, over all resumes
  double epoch_s = 0;                 // since the epoch began or was resumed, with evaluation
  double images_per_s = 0;            // training only, all ranks together
  std::optional<double> gpu_mem_mib;  // in use by all programs, at the end of the epoch
  /// Percentage of time in which a GPU was busy, 0 to 100: a mean over the epoch's training.
  std::optional<double> gpu_util_percent;
  /// Percentage of the training's time, 0 to 100, that was spent waiting for the next batch, on the
  /// rank that waited most: the others wait for it.
  std::optional<double> data_wait_percent;
};

/// A finished optimizer step.
struct StepRow {
  std::int64_t step = 0;           // from 1
  std::int64_t epoch = 0;          // the epoch that it belongs to, from 1
  std::optional<double> loss;      // mean loss of its samples that count, if there are any
  std::optional<double> accuracy;  // accuracy on these, if the network has it
  double lr = 0;
  std::optional<double> grad_norm;
  std::optional<double> loss_scale;
  double elapsed_s = 0;
  double images_per_s = 0;
  std::optional<double> data_wait_percent;  // share of the epoch so far, on this rank
};

/// Progress of a validation.
struct ValidationProgress {
  std::int64_t epoch = 0;    // the epoch that it ends, from 1
  std::int64_t batch = 0;    // finished batches, of this rank
  std::int64_t batches = 0;  // in total
};

/// Receives a run's measurements. Ranks other than 0 get a NullSink.
class MetricsSink {
 public:
  virtual ~MetricsSink() = default;
  virtual void on_epoch(const EpochRow& row) = 0;
  virtual void on_step(const StepRow& row) = 0;
  /// Before each batch of a validation.
  virtual void on_validation(const ValidationProgress&) {}
  /// Writes everything received to the disk; called with each checkpoint.
  virtual void sync() {}
};

class NullSink final : public MetricsSink {
 public:
  void on_epoch(const EpochRow&) override {}
  void on_step(const StepRow&) override {}
};

/// Passes every event to several sinks, in order.
class SinkList final : public MetricsSink {
 public:
  void add(std::unique_ptr<MetricsSink> sink) { sinks_.push_back(std::move(sink)); }
  void on_epoch(const EpochRow& row) override {
    for (auto& sink : sinks_) sink->on_epoch(row);
  }
  void on_step(const StepRow& row) override {
    for (auto& sink : sinks_) sink->on_step(row);
  }
  void on_validation(const ValidationProgress& progress) override {
    for (auto& sink : sinks_) sink->on_validation(progress);
  }
  void sync() override {
    for (auto& sink : sinks_) sink->sync();
  }

 private:
  std::vector<std::unique_ptr<MetricsSink>> sinks_;
};

}  // namespace trainyard
