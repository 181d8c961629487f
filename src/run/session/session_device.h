// The device of a run: chosen, checked against the run's precision and the other ranks' devices,
// opened, bound to near processors, and joined with those of the other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/gpus.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/filesystem.h"
#include "base/gpu_error.h"
#include "base/host.h"
#include "compute/executor.h"
#include "data/feed/batch_launches.h"
#include "device/device.h"
#include "device/gpu_survey.h"
#include "model/compute.h"
#include "optim/update_launches.h"
#include "plan/target.h"
#include "ranks/comm/communicator.h"
#include "ranks/rank_group.h"
#include "report/status.h"
#include "run/config/run_config.h"

namespace trainyard {

/// Binds this thread and those that it starts, and so the memory that batches are copied from, to
/// the NUMA node of the GPU. Warns, and changes nothing, if this process cannot run there. `root`
/// contains sys.
void stay_near(const GpuFinding& gpu, const std::function<void(const std::string&)>& warn,
               const fs::path& root = "/");

/// The device of a rank.
struct DeviceKind {
  bool gpu = false;
  std::string no_gpu = {};  // why it is not a GPU, if --gpus leaves it open; or ""
};

struct SessionData;

/// The device to compute on.
struct DeviceChoice {
  enum class Kind { cpu, reference, gpu } kind = Kind::cpu;
  int threads = 0;  // 0: the config's, else all cores
  bool fuse = true;
  std::shared_ptr<const UsableGpus> gpus;  // for a gpu; the first one is used
  fs::path cache_folder;                   // for what need not be found twice; empty: none
  bool check_all = false;                  // see Opening::check_all
  bool tune = true;                        // see CudaExecutorSettings, like the one below
  Division division = Division::by_name;   // division of the resumed run
  SampleForm form = {};                    // form of the resumed run; see Opening::form
  std::string choices;                     // choices of the resumed run, or empty
  std::string no_gpu;                      // why it is not a GPU, if --gpus leaves it open
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// Called for each long phase of making a session.
  std::function<void(RunPhase)> begins = [](RunPhase) {};
  /// Called with the data sets as soon as they are open, before anything depends on them.
  std::function<void(const SessionData&)> opened = [](const SessionData&) {};
};
/// The precision of a device if the run does not give one: fp32; fp64 on the reference device.
[[nodiscard]] Precision default_precision(DeviceChoice::Kind kind);

/// How the ranks of a run get the same engines: rank 0 chooses, the others wait. Choosing may take
/// minutes, longer than a call of the others may wait: rank 0 notifies them meanwhile, and each
/// notification restarts their wait.
class EngineRelay {
 public:
  /// `seconds` between two notifications, well below the limit of a call. Ranks and clock outlive
  /// it.
  EngineRelay(RankGroup& ranks, const Clock& clock, double seconds);

  /// On every rank while engines are chosen or made, any number of times: the watchdog sees
  /// progress. On rank 0 it also notifies the others when it is time.
  void tick();
  /// Rank 0, once: sends the choices to the others (ExecutorFactory::choices()).
  void give(const std::string& choices);
  [[nodiscard]] bool given() const { return given_; }
  /// The others, once: the choices of rank 0.
  [[nodiscard]] std::string take();

 private:
  RankGroup& ranks_;
  const Clock& clock_;
  double seconds_;
  double told_;  // when the others were last notified, on the clock
  bool given_ = false;
};

/// A device with its queues, executors and launches.
struct SessionDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Queue> side_queue;    // StepQueues::side
  std::unique_ptr<Queue> copies;        // Compute::copies
  std::unique_ptr<Queue> sums;          // Compute::sums
  std::unique_ptr<Communicator> ranks;  // ranks of GPUs, if the run has several; else null
  std::unique_ptr<EngineRelay> relay;   // if several ranks share engines; the executors tick it
  std::unique_ptr<ExecutorFactory> executors;
  std::unique_ptr<UpdateLaunches> launches;
  std::unique_ptr<BatchLaunches> batches;
  Target target;
  int threads = 1;
  std::string text;               // "CPU, 2 threads", "cuda:0 (NVIDIA H200), bf16"
  std::int64_t results_kept = 1;  // StepOptions::results

  std::size_t total_bytes = 0;  // size of a GPU's memory; 0: the CPU

  [[nodiscard]] Compute compute() const {
    return {*device, *queue, *executors, *launches, copies.get(), sums.get(), batches.get()};
  }
  /// MiB of a GPU's memory in use by all processes, as NVML counts; empty for the CPU.
  [[nodiscard]] std::optional<double> used_mib() const;
  /// Recent utilisation of the GPU by all processes, in percent; empty for the CPU and if the
  /// driver does not report it. Queries the driver, which is slow.
  [[nodiscard]] std::optional<double> busy_percent() const;
};
/// The device of a run, with the run's threads and precision. Throws Error{device} for a precision
/// that the device lacks.
/// With `ranks` a GPU joins those of the other ranks, and every device takes the engines that rank
/// 0 chose, which sends them once its model is made (Session).
[[nodiscard]] SessionDevice make_device(const DeviceChoice& choice, const RunConfig& run,
                                        RankGroup* ranks = nullptr);

/// What decides about bf16 on a CPU.
struct Processor {
  bool bf16 = false;      // cpu_executors_have_bf16()
  std::string name = {};  // processor_name(), or "" if it is not known
};

/// There is no fallback: throws Error{device}, which begins with the position of the run's
/// `precision` if it is known, for one that the device lacks.
void require_precision(DeviceChoice::Kind kind, Precision precision, const Position& where,
                       const Processor& processor);

/// `error` with the GPU that a rank trains on (null: the CPU): "..., on cuda:0 (NVIDIA H200,
/// 0000:17:00.0) of node1".
[[nodiscard]] Error with_gpu(const GpuError& error, const GpuFinding* gpu, std::string_view host);

/// The result of `work` on that device. A GpuError from it gets the GPU's name; other errors pass.
template <class Work>
auto naming_gpu(const DeviceChoice& choice, const Work& work) {
  try {
    return work();
  } catch (const GpuError& error) {
    throw with_gpu(error, choice.gpus ? &choice.gpus->gpus.front() : nullptr, host_name());
  }
}

/// The GPU at the end of such an error's text: "cuda:0 (...) of node1"; else "".
[[nodiscard]] std::string gpu_in(std::string_view text);

}  // namespace trainyard
