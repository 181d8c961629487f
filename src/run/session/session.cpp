#include "run/session/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "model/memory_fit.h"
#include "ops/metric.h"
#include "run/config/batch_rate.h"
#include "run/config/best_metric_choice.h"
#include "run/config/layer_rules.h"
#include "run/config/shards.h"
#include "run/session/device_kind.h"
#include "run/session/join_gpus.h"
#include "run/session/near_gpu.h"

namespace trainyard {
namespace {

/// There is no fallback: a precision that the device lacks is refused.
void require_precision(DeviceChoice::Kind kind, Precision precision) {
  using Kind = DeviceChoice::Kind;
  const std::string asked = "'precision: " + std::string(name_of(precision)) + "' ";
  std::string wanted;
  if (kind == Kind::reference && precision == Precision::tf32) {
    wanted = "needs a GPU; the reference device computes in fp64, fp32, bf16 and fp16";
  } else if (kind == Kind::gpu && precision == Precision::fp64) {
    wanted = "needs --device reference; a GPU computes in fp32, tf32, bf16 and fp16";
  } else if (kind == Kind::cpu && precision != Precision::fp32) {
    wanted = precision == Precision::fp64   ? "needs --device reference"
             : precision == Precision::tf32 ? "needs a GPU"
                                            : "needs a GPU or --device reference";
    wanted += "; the CPU computes in fp32: set 'precision: fp32'";
  }
  if (!wanted.empty()) throw Error(ErrorKind::device, asked + wanted);
}

/// The name of the CPU in the first line of a run.
std::string processor_text(const DeviceChoice& choice, int threads, const RankGroup* ranks) {
  std::string text =
      choice.kind == DeviceChoice::Kind::reference
          ? "reference device"
          : "CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (ranks == nullptr || ranks->size() == 1) return text;
  return text + (ranks->shares_memory() ? ", sums in shared memory" : ", sums over TCP");
}

void open_processor(const DeviceChoice& choice, const RunConfig& run, Precision precision,
                    SessionDevice& session) {
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
  session.executors = make_cpu_executors();
  session.target = cpu_target(processor_has_avx512());
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

void open_gpu(const DeviceChoice& choice, const RunConfig& run, Precision precision,
              RankGroup* ranks, SessionDevice& session) {
  const UsableGpus& usable = *choice.gpus;
  const GpuFinding& gpu = usable.gpus.front();
  session.device = usable.backend->make_device(gpu.ordinal);
  session.queue = session.device->make_queue();
  session.copies = session.device->make_queue();
  using EngineSource = CudaExecutorSettings::EngineSource;
  std::string engines = choice.choices;
  EngineSource engines_of = EngineSource::earlier_run;
  if (ranks != nullptr && ranks->size() > 1) {
    join_gpus(choice, *ranks, session);
    session.relay = make_relay(*ranks);
    if (ranks->rank() > 0) {
      engines = session.relay->take();
      engines_of = EngineSource::first_rank;
    }
  }
  session.launches = usable.backend->make_update_launches(*session.queue);
  session.batches = usable.backend->make_batch_launches(*session.queue);
  session.target = cuda_target(precision);
  session.executors = usable.backend->make_executors({.device = session.device.get(),
                                                      .queue = session.queue.get(),
                                                      .ordinal = gpu.ordinal,
                                                      .gpu = gpu.name,
                                                      .cudnn = library_path(usable, "cuDNN"),
                                                      .cublaslt = library_path(usable, "cuBLASLt"),
                                                      .deterministic = run.deterministic,
                                                      .workspace_cap = session.target.workspace_cap,
                                                      .tune = choice.tune,
                                                      .engine_folder = choice.engine_folder,
                                                      .engines_of = engines_of,
                                                      .engines = engines,
                                                      .tick = engine_tick(choice, session),
                                                      .warn = choice.warn});
  const bool one_each = ranks != nullptr && ranks->size() > 1 && !usable.share.shared();
  session.text = (one_each ? "a GPU" : session.device->name()) + " (" + gpu.name + "), " +
                 std::string(name_of(precision));
  if (usable.share.shared()) session.text += ", " + share_text(usable.share);
  if (!run.deterministic) session.text += ", not deterministic";
  session.total_bytes = gpu.total_bytes;
  session.results_kept = 16;  // one wait per 16 steps; losses are shown that much later
}

LossScale loss_scale_of(const RunConfig& run) {
  if (!run.loss_scale) return {};
  return {.start = run.loss_scale->start,
          .dynamic = run.loss_scale->dynamic,
          .growth = run.loss_scale->growth};
}

DType transport_of(const RunConfig& run) {
  using Transport = RanksConfig::Transport;
  const Transport transport = run.ranks.transport;
  return transport == Transport::bf16   ? DType::bf16
         : transport == Transport::fp16 ? DType::f16
                                        : DType::f32;
}

}  // namespace

Precision default_precision(DeviceChoice::Kind kind) {
  return kind == DeviceChoice::Kind::reference ? Precision::fp64 : Precision::fp32;
}

SessionDevice make_device(const DeviceChoice& choice, const RunConfig& run, RankGroup* ranks) {
  require_supported_processor();
  const bool gpu = choice.kind == DeviceChoice::Kind::gpu;
  if (ranks != nullptr) require_one_kind({.gpu = gpu, .no_gpu = choice.no_gpu}, *ranks);
  const Precision precision = run.precision.value_or(default_precision(choice.kind));
  require_precision(choice.kind, precision);
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
    open_processor(choice, run, precision, session);
    session.text = processor_text(choice, session.threads, ranks);
  }
  session.target.fuse = choice.fuse;
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

std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks) {
  if (run.batch.per_gpu) return *run.batch.per_gpu;
  const std::int64_t parts = ranks * shards_of_rank(run, ranks) * run.accumulate;
  if (*run.batch.total % parts != 0) {
    throw Error(ErrorKind::config, "batch.total " + std::to_string(*run.batch.total) +
                                       " is not divisible by " + std::to_string(parts) +
                                       " (ranks x accumulate); choose a multiple of it");
  }
  return *run.batch.total / parts;
}

TrainingGraph make_training_graph(RunConfig& run, std::int64_t batch) {
  Graph network = build_network(run, batch);
  std::vector<std::shared_ptr<const Metric>> metrics;
  // A loss without an activation compares the output itself with the labels 0 and 1.
  const double threshold = activation_of(run.loss->type()).empty() ? 0.5 : 0;
  for (auto& metric : run.metrics) {
    std::shared_ptr<const Metric> usual = metric->with_threshold(threshold);
    metrics.push_back(usual ? std::move(usual) : std::move(metric));
  }
  return attach_loss(std::move(network), std::move(run.loss), metrics);
}

Session::Session(RunConfig run, const DeviceChoice& choice, const Statistics* known,
                 RankGroup& ranks, TimedAllReduce* measured)
    : run_(std::move(run)),
      device_(make_device(choice, run_, &ranks)),
      ranks_(ranks),
      measured_(measured),
      statistics_sum_(make_statistics_sum(device_ranks(), *device_.queue)),
      give_up_(device_.ranks.get()) {
  batch_.ranks = ranks_.size();
  batch_.replica = replica_batch(run_, batch_.ranks);
  const std::int64_t shards = shards_of_rank(run_, batch_.ranks);
  batch_.global = batch_.replica * batch_.ranks * shards * run_.accumulate;
  scale_schedule(run_, batch_.global);
  metric_names_ = trainyard::metric_names(run_.metrics);
  const TrainingGraph graph = make_training_graph(run_, batch_.replica);
  choice.begins(RunPhase::reading_data);
  data_ = open_data(run_, known, device_.threads, ranks_, choice.warn);
  check_fit(graph.graph);
  place_data(run_.data, device_, batch_.replica, data_);
  make_feeders();
  choice.begins(RunPhase::building);
  model_ = std::make_unique<Model>(
      graph, device_.compute(),
      ModelOptions{.target = device_.target,
                   .threads = device_.threads,
                   .seed = static_cast<std::uint64_t>(run_.seed),
                   .slots = static_cast<int>(run_.optimizer->slots().size()),
                   .accumulates = run_.accumulate > 1,
                   .shards = shards,
                   .statistics_sum = statistics_sum_.get()});
  if (device_.relay && ranks_.rank() == 0) device_.relay->give(device_.executors->choices());
  if (data_.train_images) {
    model_->feed_from(*data_.train_images, *data_.images_of_val(), data_.pipeline->spatial_steps());
  }
  updater_ = std::make_unique<Updater>(
      *model_, device_ranks(), *run_.optimizer, run_.schedule.get(),
      ScheduleContext{
          .base = run_.optimizer->rate(), .epochs = run_.epochs, .steps_per_epoch = batch_.steps},
      UpdateOptions{.clip_norm = run_.clip_norm,
                    .accumulate = run_.accumulate,
                    .shards = run_.batch.shards.value_or(0),
                    .results = device_.results_kept,
                    .loss_scale = loss_scale_of(run_),
                    .transport = transport_of(run_)});
}

Communicator& Session::device_ranks() {
  Communicator& ranks = device_.ranks ? *device_.ranks : ranks_.communicator();
  return measured_ == nullptr ? ranks : measured_->around(ranks);
}

void Session::check_fit(const Graph& graph) const {
  const Shape input = graph.values[graph.inputs[0]].shape;
  const Shape image = data_.pipeline->output_shape();
  const std::string where = run_.network.where.text() + ": ";
  if (Shape{input.c(), input.h(), input.w()} != image) {
    throw Error(ErrorKind::config, where + "the network's input is " +
                                       Shape{input.c(), input.h(), input.w()}.text() +
                                       ", but the data are " + image.text() +
                                       "; change 'input' of the network or the data");
  }
  const Shape output = graph.values[graph.output].shape;
  if (output.rank() == 2 && output.c() > 1 && output.c() != data_.train->classes()) {
    throw Error(ErrorKind::config, where + "the network ends in " + std::to_string(output.c()) +
                                       " outputs, but the data have " +
                                       std::to_string(data_.train->classes()) +
                                       " classes; change the last layer's units" +
                                       classes_advice(output.c(), data_.train->classes()));
  }
}

void Session::make_feeders() {
  FeederOptions options{.batch = batch_.replica,
                        .seed = static_cast<std::uint64_t>(run_.seed),
                        .shuffle = run_.data.train.shuffle,
                        .train = true,
                        .workers = static_cast<int>(run_.data.workers),
                        .prefetch = static_cast<int>(run_.data.prefetch),
                        .images = data_.images,
                        .rank = ranks_.rank(),
                        .ranks = ranks_.size(),
                        .shards = shards_of_rank(run_, ranks_.size())};
  data_.train_feeder = std::make_unique<Feeder>(*data_.train, *data_.pipeline, options);
  options.shuffle = false;
  options.train = false;
  options.shards = 1;
  data_.val_feeder = std::make_unique<Feeder>(*data_.val, *data_.pipeline, options);
  batch_.steps = data_.train_feeder->steps_per_epoch() /
                 (data_.train_feeder->options().shards * run_.accumulate);
  batch_.dropped = data_.train->size() - batch_.steps * batch_.global;
  if (batch_.steps == 0) {
    throw Error(ErrorKind::config, "the training split has " + std::to_string(data_.train->size()) +
                                       " samples, fewer than one global batch of " +
                                       std::to_string(batch_.global) + "; use a smaller batch");
  }
}

}  // namespace trainyard
