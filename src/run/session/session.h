// Builds the objects of a run from its config: the only place that does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/gpus.h"
#include "comm/statistics_over_ranks.h"
#include "comm/timed_all_reduce.h"
#include "device/device.h"
#include "exec/executor.h"
#include "model/model.h"
#include "report/progress.h"
#include "run/config/run_config.h"
#include "run/session/engine_relay.h"
#include "run/session/session_data.h"
#include "train/rank_group.h"
#include "train/updater.h"

namespace trainyard {

/// Which device computes.
struct DeviceChoice {
  enum class Kind { cpu, reference, gpu } kind = Kind::cpu;
  int threads = 0;  // 0: the config's, else all cores
  bool fuse = true;
  std::shared_ptr<const UsableGpus> gpus;  // of a gpu; the first one is taken
  std::filesystem::path engine_folder;     // see CudaExecutorSettings, like the two below
  bool tune = true;
  std::string choices;  // of the run that is resumed, or empty
  std::string no_gpu;   // why it is none, where --gpus leaves it open
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// Told of what takes its time when a session is made.
  std::function<void(RunPhase)> begins = [](RunPhase) {};
};
/// What a device computes in where the run does not say: fp32, the reference device fp64.
[[nodiscard]] Precision default_precision(DeviceChoice::Kind kind);

/// The batch of a run in numbers, as the banner prints them.
struct BatchNumbers {
  std::int64_t replica = 1;  // samples a forward pass
  std::int64_t ranks = 1;
  std::int64_t global = 1;   // samples an update
  std::int64_t steps = 0;    // updates an epoch
  std::int64_t dropped = 0;  // samples an epoch leaves out
};

/// A device with its queue and what computes on it.
struct SessionDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Queue> copies;        // Compute::copies
  std::unique_ptr<Queue> sums;          // Compute::sums
  std::unique_ptr<Communicator> ranks;  // of GPUs, where a run has several ranks; else null
  std::unique_ptr<EngineRelay> relay;   // where `ranks` is; the executors tick it
  std::unique_ptr<ExecutorFactory> executors;
  std::unique_ptr<UpdateLaunches> launches;
  std::unique_ptr<BatchLaunches> batches;
  Target target;
  int threads = 1;
  std::string text;               // "CPU, 2 threads", "cuda:0 (NVIDIA H200), bf16"
  std::int64_t results_kept = 1;  // UpdateOptions::results

  std::size_t total_bytes = 0;  // of a GPU's memory; 0: the processor

  [[nodiscard]] Compute compute() const {
    return {*device, *queue, *executors, *launches, copies.get(), sums.get()};
  }
  /// MiB of a GPU's memory that are in use, by all processes, as NVML counts; empty for the
  /// processor.
  [[nodiscard]] std::optional<double> used_mib() const;
  /// Share of the last moments in which the GPU worked, in percent, for whomever; empty for the
  /// processor and where the driver does not say. Asks the driver, which takes its time.
  [[nodiscard]] std::optional<double> busy_percent() const;
};
/// The device of a run, with the run's threads and precision. Throws Error{device} for a precision
/// that the device lacks.
/// With `ranks` a GPU joins those of the other ranks, and takes the engines that rank 0 chose: rank
/// 0 gives them once its model is made (Session).
[[nodiscard]] SessionDevice make_device(const DeviceChoice& choice, const RunConfig& run,
                                        RankGroup* ranks = nullptr);

/// Samples a replica's forward pass takes. Throws Error{config} if `total` does not divide.
[[nodiscard]] std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks);

/// The training graph of a run at this batch. Takes the loss and the metrics out of `run`.
[[nodiscard]] TrainingGraph make_training_graph(RunConfig& run, std::int64_t batch);

/// A run, ready to train or to be resumed into.
class Session {
 public:
  /// `known` are the statistics of the training split from a checkpoint, or null to compute them.
  /// Throws Error{config} where network and data do not fit, Error{data}, Error{memory}.
  /// One of the run's ranks, which outlive it. `measured`, if given, stands between the steps and
  /// the ranks' sums, and outlives it too.
  Session(RunConfig run, const DeviceChoice& choice, const Statistics* known, RankGroup& ranks,
          TimedAllReduce* measured = nullptr);

  [[nodiscard]] const RunConfig& config() const { return run_; }
  [[nodiscard]] const BatchNumbers& batch() const { return batch_; }
  /// Names of the metrics' columns, in the order of the model's metrics.
  [[nodiscard]] const std::vector<std::string>& metric_names() const { return metric_names_; }
  [[nodiscard]] SessionData& data() { return data_; }
  [[nodiscard]] const SessionDevice& device() const { return device_; }
  [[nodiscard]] Model& model() { return *model_; }
  [[nodiscard]] Updater& updater() { return *updater_; }

 private:
  /// Among the devices that compute.
  [[nodiscard]] Communicator& device_ranks();
  void check_fit(const Graph& graph) const;
  void make_feeders();

  RunConfig run_;
  std::vector<std::string> metric_names_;
  SessionDevice device_;
  RankGroup& ranks_;
  TimedAllReduce* measured_;
  std::unique_ptr<StatisticsSum> statistics_sum_;  // null: one rank
  BatchNumbers batch_;
  SessionData data_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Updater> updater_;
  GiveUpOnError give_up_;  // of device_.ranks; last
};

}  // namespace trainyard
