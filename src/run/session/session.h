// Builds the objects of a run from its config: the only place that does.
//
// The folder run/session holds this assembly and what only it needs: joining GPUs, sharing data
// sets between ranks, agreeing on devices and engines.
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

/// The device to compute on.
struct DeviceChoice {
  enum class Kind { cpu, reference, gpu } kind = Kind::cpu;
  int threads = 0;  // 0: the config's, else all cores
  bool fuse = true;
  std::shared_ptr<const UsableGpus> gpus;  // for a gpu; the first one is used
  std::filesystem::path engine_folder;     // see CudaExecutorSettings, like the two below
  bool tune = true;
  std::string choices;  // of the run that is resumed, or empty
  std::string no_gpu;   // why it is not a GPU, if --gpus leaves it open
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// Called for each long phase of making a session.
  std::function<void(RunPhase)> begins = [](RunPhase) {};
};
/// The precision of a device if the run does not give one: fp32; fp64 on the reference device.
[[nodiscard]] Precision default_precision(DeviceChoice::Kind kind);

/// The batch of a run in numbers, as the banner prints them.
struct BatchNumbers {
  std::int64_t replica = 1;  // samples per forward pass
  std::int64_t ranks = 1;
  std::int64_t global = 1;   // samples per step
  std::int64_t steps = 0;    // per epoch
  std::int64_t dropped = 0;  // samples left out per epoch
};

/// A device with its queues, executors and launches.
struct SessionDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Queue> copies;        // Compute::copies
  std::unique_ptr<Queue> sums;          // Compute::sums
  std::unique_ptr<Communicator> ranks;  // of GPUs, if the run has several ranks; else null
  std::unique_ptr<EngineRelay> relay;   // null without `ranks`; the executors tick it
  std::unique_ptr<ExecutorFactory> executors;
  std::unique_ptr<UpdateLaunches> launches;
  std::unique_ptr<BatchLaunches> batches;
  Target target;
  int threads = 1;
  std::string text;               // "CPU, 2 threads", "cuda:0 (NVIDIA H200), bf16"
  std::int64_t results_kept = 1;  // UpdateOptions::results

  std::size_t total_bytes = 0;  // of a GPU's memory; 0: the CPU

  [[nodiscard]] Compute compute() const {
    return {*device, *queue, *executors, *launches, copies.get(), sums.get()};
  }
  /// MiB of a GPU's memory in use by all processes, as NVML counts; empty for the CPU.
  [[nodiscard]] std::optional<double> used_mib() const;
  /// Recent utilisation of the GPU by all processes, in percent; empty for the CPU and if the
  /// driver does not report it. Queries the driver, which is slow.
  [[nodiscard]] std::optional<double> busy_percent() const;
};
/// The device of a run, with the run's threads and precision. Throws Error{device} for a precision
/// that the device lacks.
/// With `ranks` a GPU joins those of the other ranks, and takes the engines that rank 0 chose,
/// which sends them once its model is made (Session).
[[nodiscard]] SessionDevice make_device(const DeviceChoice& choice, const RunConfig& run,
                                        RankGroup* ranks = nullptr);

/// Samples of a replica's forward pass. Throws Error{config} if `total` is not divisible.
[[nodiscard]] std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks);

/// The training graph of a run at this batch. Moves the loss and the metrics out of `run`.
[[nodiscard]] TrainingGraph make_training_graph(RunConfig& run, std::int64_t batch);

/// A run, ready to train or to be restored from a checkpoint.
class Session {
 public:
  /// `known` are the statistics of the training split from a checkpoint, or null to compute them.
  /// Throws Error{config} if network and data do not fit, Error{data}, Error{memory}.
  /// One of the run's ranks, which outlive it. `measured`, if given, wraps the all-reduces of the
  /// ranks, and outlives it too.
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
  /// Between the devices that compute.
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
