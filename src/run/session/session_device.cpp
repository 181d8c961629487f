#include "run/session/session_device.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/error.h"
#include "base/host.h"
#include "base/parallel.h"
#include "base/text.h"
#include "compute/devices/cpu_executors.h"
#include "model/model_programs.h"
#include "ranks/comm/shared_memory.h"

namespace trainyard {

namespace {

std::string refused_by_cpu(Precision precision, const Processor& processor) {
  if (precision == Precision::fp32 || (precision == Precision::bf16 && processor.bf16)) return "";
  if (precision == Precision::bf16) {
    return "needs a processor with AVX512-BF16, which " +
           (processor.name.empty() ? "this one" : "this one (" + processor.name + ")") +
           " lacks, a GPU or --device reference; set 'precision: fp32'";
  }
  const std::string wanted = precision == Precision::fp64   ? "needs --device reference"
                             : precision == Precision::tf32 ? "needs a GPU"
                                                            : "needs a GPU or --device reference";
  return wanted + "; the CPU computes in fp32" +
         (processor.bf16 ? " and bf16" : ": set 'precision: fp32'");
}

/// "" if the device computes in this precision.
std::string refusal(DeviceChoice::Kind kind, Precision precision, const Processor& processor) {
  using Kind = DeviceChoice::Kind;
  if (kind == Kind::cpu) return refused_by_cpu(precision, processor);
  if (kind == Kind::reference && precision == Precision::tf32) {
    return "needs a GPU; the reference device computes in fp64, fp32, bf16 and fp16";
  }
  if (kind == Kind::gpu && precision == Precision::fp64) {
    return "needs --device reference; a GPU computes in fp32, tf32, bf16 and fp16";
  }
  return "";
}

/// The name of the CPU in the first line of a run.
std::string processor_text(const DeviceChoice& choice, int threads, const RankGroup* ranks) {
  std::string text = choice.kind == DeviceChoice::Kind::reference
                         ? "reference device"
                         : "CPU, " + count_text(threads, "thread");
  if (ranks == nullptr || ranks->size() == 1) return text;
  return text + (ranks->shares_memory() ? ", sums in shared memory" : ", sums over TCP");
}

std::unique_ptr<EngineRelay> make_relay(RankGroup& ranks) {
  const std::chrono::duration<double> limit = ranks.call_limit();
  return std::make_unique<EngineRelay>(ranks, ranks.clock(), limit.count() / 4);
}

/// Notifies the status and the other ranks that the choice of engines is still going on.
std::function<void()> engine_tick(const DeviceChoice& choice, const SessionDevice& session) {
  return [begins = choice.begins, relay = session.relay.get()] {
    begins(RunPhase::building);
    if (relay != nullptr) relay->tick();
  };
}

/// The engines of an earlier run, or those of rank 0, for which the others wait.
struct KnownEngines {
  bool of_first_rank = false;
  std::string choices;
};

KnownEngines known_engines(const DeviceChoice& choice, RankGroup* ranks, SessionDevice& session) {
  if (ranks == nullptr || ranks->size() == 1) return {.choices = choice.choices};
  session.relay = make_relay(*ranks);
  if (ranks->rank() == 0) return {.choices = choice.choices};
  return {.of_first_rank = true, .choices = session.relay->take()};
}

/// With `--no-tune` nothing is timed, and all convolutions are oneDNN's.
std::unique_ptr<ExecutorFactory> make_timed_executors(const DeviceChoice& choice,
                                                      const RunConfig& run, RankGroup* ranks,
                                                      SessionDevice& session) {
  if (run.winograd == WinogradForms::none || !choice.tune) return make_cpu_executors();
  using Forms = CpuExecutorSettings::Winograd;
  using EngineSource = CpuExecutorSettings::EngineSource;
  KnownEngines known = known_engines(choice, ranks, session);
  return make_cpu_executors(
      {.winograd = run.winograd == WinogradForms::fast ? Forms::fast : Forms::accurate,
       .engine_folder = choice.cache_folder,
       .engines_of = known.of_first_rank ? EngineSource::first_rank : EngineSource::earlier_run,
       .engines = std::move(known.choices),
       .tick = engine_tick(choice, session),
       .warn = choice.warn});
}

void open_processor(const DeviceChoice& choice, const RunConfig& run, Precision precision,
                    RankGroup* ranks, SessionDevice& session) {
  session.device = make_cpu_device();
  require_program_memory(*session.device, session.threads + run.data.workers);
  session.queue = session.device->make_queue();
  session.launches = make_cpu_update_launches(session.threads);
  session.batches = make_cpu_batch_launches(session.threads);
  if (choice.kind == DeviceChoice::Kind::reference) {
    session.executors = make_reference_executors();
    session.target = reference_target(precision);
    return;
  }
  session.executors = make_timed_executors(choice, run, ranks, session);
  session.target = cpu_target(processor_has_avx512(), precision);
}

/// The path of a library that the GPU part found, by its name: "cuDNN".
fs::path library_path(const UsableGpus& gpus, const std::string& name) {
  for (const LibraryFinding& library : gpus.libraries) {
    if (library.name == name) return library.path;
  }
  TY_CHECK(false, "the GPU part knows no " + name);
  return {};
}

/// Makes the communicator among the GPUs of the ranks in `session`, whose device exists already:
/// NCCL, with a queue of its own, or ranks that share a GPU through the host. Throws Error{device}.
void join_gpus(const DeviceChoice& choice, RankGroup& ranks, SessionDevice& session) {
  const UsableGpus& usable = *choice.gpus;
  // NCCL takes one rank per GPU.
  if (ranks.largest(usable.share.shared() ? 1 : 0) > 0) {
    session.ranks = make_staged_communicator(*session.device, ranks.communicator());
    return;
  }
  require_joining_libraries(usable);
  const std::string warning = shared_memory_warning({.ranks = ranks.identity().local_ranks,
                                                     .direct = usable.direct,
                                                     .shared_bytes = free_shared_bytes()});
  if (!warning.empty() && ranks.identity().local_rank == 0) choice.warn(warning);
  session.sums = session.device->make_high_priority_queue();
  session.ranks = usable.backend->make_nccl_ranks(
      {.library = library_path(usable, "NCCL"),
       .rank = ranks.rank(),
       .ranks = ranks.size(),
       .host = host_name(),
       .device = session.device.get(),
       .clock = &ranks.clock(),
       .share =
           [&](std::span<std::byte> id) {
             ranks.communicator().broadcast(ranks.queue(), id.data(), id.size(), 0);
           },
       .limit = ranks.call_limit()});
}

void open_gpu(const DeviceChoice& choice, const RunConfig& run, Precision precision,
              RankGroup* ranks, SessionDevice& session) {
  const UsableGpus& usable = *choice.gpus;
  const GpuFinding& gpu = usable.gpus.front();
  const bool alone = ranks == nullptr || ranks->size() == 1;
  session.device = usable.backend->make_device(gpu.ordinal, run.overlap && alone);
  session.queue = session.device->make_queue();
  session.side_queue = session.device->make_low_priority_queue();
  session.copies = session.device->make_queue();
  if (!alone) join_gpus(choice, *ranks, session);
  using EngineSource = CudaExecutorSettings::EngineSource;
  const KnownEngines known = known_engines(choice, ranks, session);
  session.launches = usable.backend->make_update_launches(*session.queue);
  session.batches = usable.backend->make_batch_launches(*session.queue);
  session.target = cuda_target(precision);
  session.executors = usable.backend->make_executors(
      {.device = session.device.get(),
       .queue = session.queue.get(),
       .side_queue = session.side_queue.get(),
       .ordinal = gpu.ordinal,
       .gpu = gpu.name,
       .cudnn = library_path(usable, "cuDNN"),
       .cublaslt = library_path(usable, "cuBLASLt"),
       .deterministic = run.deterministic,
       .workspace_cap = session.target.workspace_cap,
       .tune = choice.tune,
       .engine_folder = choice.cache_folder,
       .engines_of = known.of_first_rank ? EngineSource::first_rank : EngineSource::earlier_run,
       .engines = known.choices,
       .tick = engine_tick(choice, session),
       .warn = choice.warn});
  const bool one_each = !alone && !usable.share.shared();
  session.text = (one_each ? "a GPU" : session.device->name()) + " (" + gpu.name + "), " +
                 std::string(name_of(precision));
  if (usable.share.shared()) session.text += ", " + share_text(usable.share);
  if (!run.deterministic) session.text += ", not deterministic";
  session.total_bytes = gpu.total_bytes;
  session.results_kept = 16;  // one wait per 16 steps; losses are shown that much later
}

constexpr Operation kChoosing{"choosing engines"};
/// Sent by rank 0 while it chooses: choices, which are a JSON object, are never empty.
constexpr const char* kStillChoosing = "";

constexpr std::string_view kOn = ", on ", kGpu = "cuda:";

/// Called by every rank before its first all-reduce. If some ranks have a GPU and some do not,
/// throws Error{device}, the same on all ranks, that names one without, why, and one with a GPU.
void require_one_kind(const DeviceKind& own, RankGroup& ranks) {
  const std::vector<std::string> kinds = ranks.gather(own.gpu ? "GPU" : "processor");
  const auto with = std::ranges::find(kinds, "GPU");
  const auto without = std::ranges::find(kinds, "processor");
  if (with == kinds.end() || without == kinds.end()) return;
  const std::vector<std::string> names = ranks.gather(ranks.name());
  const std::vector<std::string> reasons = ranks.gather(own.no_gpu);
  const auto lacking = static_cast<std::size_t>(without - kinds.begin());
  const std::string why = reasons[lacking].empty() ? "" : ": " + reasons[lacking];
  throw device_error(names[static_cast<std::size_t>(with - kinds.begin())] + " has a GPU, and " +
                     names[lacking] + " has none" + why +
                     "; ranks train all on GPUs or all on CPUs: fix it there (train doctor), leave "
                     "that machine out, or give --gpus 0");
}

}  // namespace

void stay_near(const GpuFinding& gpu, const std::function<void(const std::string&)>& warn,
               const fs::path& root) {
  if (!gpu.numa_node) return;
  const std::string problem = stay_on_node(*gpu.numa_node, root);
  if (problem.empty()) return;
  warn("cuda:" + std::to_string(gpu.ordinal) + " is on NUMA node " +
       std::to_string(*gpu.numa_node) + ", where this process cannot run: " + problem +
       "; batches made by the host reach it more slowly");
}

void require_precision(DeviceChoice::Kind kind, Precision precision, const Position& where,
                       const Processor& processor) {
  const std::string wanted = refusal(kind, precision, processor);
  if (wanted.empty()) return;
  throw device_error((where.known() ? where.text() + ": " : "") +
                     "'precision: " + std::string(name_of(precision)) + "' " + wanted);
}

Precision default_precision(DeviceChoice::Kind kind) {
  return kind == DeviceChoice::Kind::reference ? Precision::fp64 : Precision::fp32;
}

SessionDevice make_device(const DeviceChoice& choice, const RunConfig& run, RankGroup* ranks) {
  require_supported_processor();
  const bool gpu = choice.kind == DeviceChoice::Kind::gpu;
  if (ranks != nullptr) require_one_kind({.gpu = gpu, .no_gpu = choice.no_gpu}, *ranks);
  const Precision precision = run.precision.value_or(default_precision(choice.kind));
  const config::Node* const written = run.settled.find("precision");
  require_precision(choice.kind, precision, written == nullptr ? Position{} : written->where,
                    {.bf16 = cpu_executors_have_bf16(), .name = processor_name()});
  require_transport(run, precision);
  if (gpu) stay_near(choice.gpus->gpus.front(), choice.warn);
  SessionDevice session;
  session.threads = choice.threads > 0 ? choice.threads
                    : run.threads > 0  ? static_cast<int>(run.threads)
                                       : available_cores();
  set_threads(session.threads);
  if (gpu) {
    open_gpu(choice, run, precision, ranks, session);
  } else {
    open_processor(choice, run, precision, ranks, session);
    session.text = processor_text(choice, session.threads, ranks);
  }
  session.target.can.set(Can::fuse, choice.fuse).set(Can::write_slices, choice.fuse);
  return session;
}

std::optional<double> SessionDevice::used_mib() const {
  const std::optional<std::size_t> bytes = device->used_bytes();
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes) / (1 << 20);
}

std::optional<double> SessionDevice::busy_percent() const {
  const std::optional<int> percent = device->busy_percent();
  return percent ? std::optional<double>(*percent) : std::nullopt;
}

EngineRelay::EngineRelay(RankGroup& ranks, const Clock& clock, double seconds)
    : ranks_(ranks), clock_(clock), seconds_(seconds), told_(clock.seconds()) {}

void EngineRelay::tick() {
  ranks_.progress(0, kChoosing);
  if (ranks_.rank() > 0 || given_ || clock_.seconds() - told_ < seconds_) return;
  static_cast<void>(ranks_.from_first(kStillChoosing));
  told_ = clock_.seconds();
}

void EngineRelay::give(const std::string& choices) {
  TY_CHECK(!given_ && choices != kStillChoosing, "choices are given once");
  given_ = true;
  static_cast<void>(ranks_.from_first(choices));
}

std::string EngineRelay::take() {
  std::string choices = kStillChoosing;
  while (choices == kStillChoosing) choices = ranks_.from_first("");
  return choices;
}

Error with_gpu(const GpuError& error, const GpuFinding* gpu, std::string_view host) {
  if (gpu == nullptr) return error;
  std::string text = error.what();
  text += std::string(kOn) + std::string(kGpu) + std::to_string(gpu->ordinal) + " (" + gpu->name +
          ", " + gpu->bus + ")";
  if (!host.empty()) text += " of " + std::string(host);
  return {error.kind(), text};
}

std::string gpu_in(std::string_view text) {
  const std::size_t at = text.rfind(std::string(kOn) + std::string(kGpu));
  return at == std::string_view::npos ? "" : std::string(text.substr(at + kOn.size()));
}

}  // namespace trainyard
