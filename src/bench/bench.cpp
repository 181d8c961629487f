#include "bench/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "base/philox.h"
#include "bench/peaks.h"
#include "graph/graph.h"
#include "graph/network_input.h"
#include "plan/work.h"
#include "run/config/parameter_rules.h"
#include "run/gpu_failure.h"
#include "run/session/session_model.h"
#include "train/training_step.h"

namespace trainyard {
namespace {

/// One prepared batch of uniform noise in [-2, 2), or of random tokens, with random labels; numbers
/// of other fields are 1.
class SyntheticBatch {
 public:
  SyntheticBatch(const TrainingGraph& graph, std::int64_t classes)
      : index_(static_cast<std::size_t>(graph.graph.values[graph.graph.inputs[0]].shape.n())) {
    if (graph.images >= 0) draw_images(graph.graph.values[graph.images].shape);
    std::iota(index_.begin(), index_.end(), std::int64_t{0});
    for (const GraphField& field : graph.fields) {
      add_field(graph.graph.values[field.value], below(graph.graph, field.value, classes));
      if (field.value == graph.graph.mask) std::ranges::fill(classes_.back(), 1);
    }
  }
  [[nodiscard]] Batch view() const {
    return {.images = images_,
            .fields = {fields_.begin(), fields_.end()},
            .sample_index = index_,
            .valid = static_cast<std::int64_t>(index_.size())};
  }

 private:
  /// Fields of whole numbers are of tokens, or of classes.
  static std::int64_t below(const Graph& network, ValueId field, std::int64_t classes) {
    return network.vocabulary > 0 && field == network.inputs[0] ? network.vocabulary : classes;
  }
  void draw_images(const Shape& shape) {
    images_.resize(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Random4 draw = random4(1, RandomStream::synthetic, 0, 0, i);
      images_[i] = 4 * uniform01(draw.word[0]) - 2;
    }
  }
  /// Whole numbers are drawn below `below`.
  void add_field(const Value& value, std::int64_t below) {
    const std::size_t count = static_cast<std::size_t>(value.shape.elements());
    if (value.type != DType::i32) {
      fields_.push_back(std::as_bytes(std::span(numbers_.emplace_back(count, 1.0F))));
      return;
    }
    std::vector<std::int32_t>& drawn = classes_.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Random4 draw = random4(1, RandomStream::synthetic, 0, classes_.size(), i);
      drawn[i] = static_cast<std::int32_t>(draw.word[0] % static_cast<std::uint32_t>(below));
    }
    fields_.push_back(std::as_bytes(std::span(drawn)));
  }

  std::vector<float> images_;
  std::vector<std::int64_t> index_;
  std::vector<std::vector<std::int32_t>> classes_;
  std::vector<std::vector<float>> numbers_;
  std::vector<std::span<const std::byte>> fields_;
};

/// The rules of the run's parameters, in an epoch that does not end.
ParameterRules rules_of(const RunConfig& run, const Graph& network) {
  constexpr std::int64_t kSteps = 1 << 30;
  config::Diagnostics diagnostics;  // the rules were checked with the network
  return parameter_rules(run, network, kSteps, diagnostics);
}

/// A model with its updater on one fixed batch.
class Runner {
 public:
  /// `graph` is that of a pass, of which a step runs `shards`. Run and device outlive it.
  Runner(const RunConfig& run, TrainingGraph graph, std::int64_t shards,
         const SessionDevice& device)
      : device_(device),
        communicator_(make_single_communicator()),
        graph_(std::move(graph)),
        model_(graph_, device_.compute(),
               {.target = device_.target,
                .threads = device_.threads,
                .seed = static_cast<std::uint64_t>(run.seed),
                .slots = state_blocks(run),
                .average = average_options(run),
                .shards = shards}),
        updater_(model_, *communicator_, *run.optimizer, nullptr, {.base = run.optimizer->rate},
                 {.clip_norm = run.clip_norm,
                  .shards = shards > 1 ? shards : 0,
                  .results = device_.results_kept,
                  .parameters = rules_of(run, graph_.graph)}) {
    const Shape output = graph_.graph.values[graph_.graph.output].shape;
    const SyntheticBatch batch(graph_, std::max<std::int64_t>(output.c(), 2));
    model_.initialize(static_cast<std::uint64_t>(run.seed));
    model_.load(batch.view());
  }

  /// A step, in an epoch of its own for dropout: with the same mask in all steps the network
  /// memorises the batch, and its gradients become denormal numbers, which CPUs process slowly.
  void step() {
    model_.set_epoch(++epoch_);
    updater_.prepare();
    for (std::int64_t pass = 0; pass < updater_.reducer().passes(); ++pass) step_.run(pass);
    finish();
  }
  /// Only what follows the backward pass.
  void update() {
    updater_.prepare();
    updater_.begin();
    updater_.apply();
    finish();
  }
  void wait() { device_.queue->wait(); }
  /// Of the last step.
  [[nodiscard]] double loss() const {
    return totals_.loss / static_cast<double>(model_.memory().batch());
  }
  /// The counts of a step; after the second one, when it has been recorded.
  [[nodiscard]] StepCounts counts() const {
    const Plan& plan = model_.train().plan();
    const ModelMemory& memory = model_.memory();
    const std::size_t bytes =
        bytes_moved(plan) + update_bytes(model_.blocks(), memory.type(), memory.slots());
    return {.gflop = 1e-9 * flop_of(plan),
            .gigabytes = 1e-9 * static_cast<double>(bytes),
            .launches = step_.launches(0)};
  }
  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] const SessionDevice& device() const { return device_; }
  [[nodiscard]] const Graph& graph() const { return graph_.graph; }

 private:
  void finish() {
    updater_.finish();
    if (updater_.results().full()) totals_ = updater_.results().take_oldest().back().totals;
  }

  const SessionDevice& device_;
  std::unique_ptr<Communicator> communicator_;
  TrainingGraph graph_;
  Model model_;
  Updater updater_;
  TrainingStep step_{model_, updater_};
  std::int64_t epoch_ = 0;
  Totals totals_;
};

double peak_resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Samples per second in each window.
std::vector<double> rates_of(Runner& runner, const BenchOptions& options,
                             const std::function<double()>& now) {
  runner.step();
  runner.step();
  runner.wait();
  double begin = now();
  runner.step();
  runner.wait();
  const int steps = std::max(3, static_cast<int>(options.window_seconds / (now() - begin)));
  std::vector<double> rates;
  for (int window = 0; window < options.windows; ++window) {
    begin = now();
    for (int step = 0; step < steps; ++step) runner.step();
    runner.wait();
    rates.push_back(static_cast<double>(steps * options.batch) / (now() - begin));
  }
  return rates;
}

double step_milliseconds(const BenchOptions& options, double images_per_second) {
  return 1e3 * static_cast<double>(options.batch) / images_per_second;
}

void measure_rate(Runner& runner, const BenchOptions& options, const std::function<double()>& now,
                  BenchResult& result) {
  const std::vector<double> rates = rates_of(runner, options, now);
  result.images_per_second = median(rates);
  result.low = *std::min_element(rates.begin(), rates.end());
  result.high = *std::max_element(rates.begin(), rates.end());
  result.step_milliseconds = step_milliseconds(options, result.images_per_second);
}

void measure_passes(Runner& runner, const BenchOptions& options, const std::function<double()>& now,
                    BenchResult& result) {
  constexpr int kRepeats = 10;
  Program& program = runner.model().train();
  std::vector<StepTime> times;
  double update = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    program.run_timed(runner.device().compute().queue, times);
    const double begin = now();
    runner.update();
    runner.wait();
    update += now() - begin;
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i].seconds /= kRepeats;
    const bool forward = program.plan().steps[i].pass == Pass::forward_train;
    (forward ? result.forward_milliseconds : result.backward_milliseconds) +=
        1e3 * times[i].seconds;
  }
  result.update_milliseconds = 1e3 * update / kRepeats;
  if (options.layers) result.layers = std::move(times);
}

void check_shards_divide(const RunConfig& run, std::int64_t batch) {
  const std::int64_t shards = run.batch.shards.value_or(1);
  if (batch % shards == 0) return;
  throw Error(ErrorKind::command_line,
              "a batch of " + std::to_string(batch) +
                  " samples is not divisible by 'batch.shards: " + std::to_string(shards) +
                  "'; give a --batch that is a multiple of " + std::to_string(shards));
}

ShardsCost measure_shards(const RunConfig& run, const TrainingGraph& graph,
                          const BenchOptions& options, const SessionDevice& device,
                          const std::function<double()>& now) {
  const std::int64_t shards = *run.batch.shards;
  Runner runner(run, with_batch(graph, options.batch / shards), shards, device);
  return {.count = shards,
          .step_milliseconds = step_milliseconds(options, median(rates_of(runner, options, now)))};
}

/// Everything but shards and peaks.
BenchResult measure_steps(const RunConfig& run, const TrainingGraph& graph,
                          const BenchOptions& options, const SessionDevice& device,
                          const std::function<double()>& now, double started) {
  Runner runner(run, graph, 1, device);
  runner.step();
  BenchResult result{.network = run.name,
                     .unit = std::string(sample_unit(runner.graph()).plural),
                     .batch = options.batch,
                     .device = device.text,
                     .threads = device.threads,
                     .parameters = totals(runner.graph()).parameters_trainable};
  result.first_step_seconds = now() - started;
  measure_rate(runner, options, now, result);
  result.loss = runner.loss();
  measure_passes(runner, options, now, result);
  result.counts = runner.counts();
  const bool gpu = options.device.kind == DeviceChoice::Kind::gpu;
  result.peak_mib =
      gpu ? static_cast<double>(forecast(runner.model().programs()).total()) / (1 << 20)
          : peak_resident_mib();
  return result;
}

BenchResult bench_on_device(const RunConfig& run, const BenchOptions& options,
                            const std::function<double()>& now, double started) {
  check_shards_divide(run, options.batch);
  const SessionDevice device = make_device(options.device, run);
  const TrainingGraph graph = make_training_graph(run, options.batch);
  BenchResult result = measure_steps(run, graph, options, device, now, started);
  if (run.batch.shards.value_or(1) > 1) {
    result.shards = measure_shards(run, graph, options, device, now);
  }
  // Only now, when the model's memory is free again.
  result.peaks = measure_peaks(device, now);
  result.floors = floors_of(result.counts, result.peaks);
  const double seconds = result.step_milliseconds * 1e-3;
  result.share_of_peak = result.counts.gflop / seconds / result.peaks.gflops;
  result.share_of_floor = result.floors.milliseconds() / result.step_milliseconds;
  return result;
}

}  // namespace

BenchResult bench(const RunConfig& run, const BenchOptions& options,
                  const std::function<double()>& now, double started) {
  return naming_gpu(options.device, [&] { return bench_on_device(run, options, now, started); });
}

}  // namespace trainyard
