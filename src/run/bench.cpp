#include "run/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

#include "base/philox.h"
#include "graph/graph.h"
#include "plan/work.h"
#include "run/peaks.h"
#include "run/training_step.h"

namespace trainyard {
namespace {

/// One prepared batch of uniform noise in [-2, 2) with random labels.
class SyntheticBatch {
 public:
  SyntheticBatch(const Shape& images, std::int64_t classes)
      : images_(static_cast<std::size_t>(images.elements())),
        labels_(static_cast<std::size_t>(images.n())),
        index_(static_cast<std::size_t>(images.n())) {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Random4 draw = random4(1, RandomStream::synthetic, 0, 0, i);
      images_[i] = 4 * uniform01(draw.word[0]) - 2;
    }
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const Random4 draw = random4(1, RandomStream::synthetic, 0, 1, i);
      labels_[i] = static_cast<std::int32_t>(draw.word[0] % static_cast<std::uint32_t>(classes));
    }
    std::iota(index_.begin(), index_.end(), std::int64_t{0});
  }
  [[nodiscard]] Batch view() const {
    return {.images = images_,
            .labels = labels_,
            .sample_index = index_,
            .valid = static_cast<std::int64_t>(labels_.size())};
  }

 private:
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int64_t> index_;
};

/// A model with its updater on one fixed batch.
class Runner {
 public:
  /// The device outlives it.
  Runner(RunConfig& run, const BenchOptions& options, const SessionDevice& device)
      : device_(device),
        communicator_(make_single_communicator()),
        graph_(make_training_graph(run, options.batch)),
        model_(graph_, device_.compute(),
               {.target = device_.target,
                .threads = device_.threads,
                .seed = static_cast<std::uint64_t>(run.seed),
                .slots = static_cast<int>(run.optimizer->slots().size())}),
        updater_(model_, *communicator_, *run.optimizer, nullptr, {.base = run.optimizer->rate()},
                 {.clip_norm = run.clip_norm, .results = device_.results_kept}) {
    device_.executors->keep_choices();
    const Shape output = graph_.graph.values[graph_.graph.output].shape;
    const SyntheticBatch batch(graph_.graph.values[graph_.graph.inputs[0]].shape,
                               std::max<std::int64_t>(output.c(), 2));
    model_.initialize(static_cast<std::uint64_t>(run.seed));
    model_.load(batch.view());
  }

  /// A step, an epoch of its own for dropout: under one mask for all the network learns the batch
  /// by heart, and its gradients become denormal numbers, which processors are slow at.
  void step() {
    model_.set_epoch(++epoch_);
    updater_.prepare();
    step_.run(0);
    finish();
  }
  /// What follows the backward pass, alone.
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
  /// What a step does; after the second one, when it has been recorded.
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
    if (updater_.full()) totals_ = updater_.take_oldest().back().totals;
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

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double peak_resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure_rate(Runner& runner, const BenchOptions& options, const std::function<double()>& now,
                  BenchResult& result) {
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
  result.images_per_second = median(rates);
  result.low = *std::min_element(rates.begin(), rates.end());
  result.high = *std::max_element(rates.begin(), rates.end());
  result.step_milliseconds = 1e3 * static_cast<double>(options.batch) / result.images_per_second;
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

/// Everything but the peaks.
BenchResult measure_steps(RunConfig& run, const BenchOptions& options, const SessionDevice& device,
                          const std::function<double()>& now, double started) {
  Runner runner(run, options, device);
  runner.step();
  BenchResult result{.network = run.name,
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

}  // namespace

BenchResult bench(RunConfig run, const BenchOptions& options, const std::function<double()>& now,
                  double started) {
  const SessionDevice device = make_device(options.device, run);
  BenchResult result = measure_steps(run, options, device, now, started);
  // Now, when the model's memory is free again.
  result.peaks = measure_peaks(device, now);
  result.floors = floors_of(result.counts, result.peaks);
  const double seconds = result.step_milliseconds * 1e-3;
  result.share_of_peak = result.counts.gflop / seconds / result.peaks.gflops;
  result.share_of_floor = result.floors.milliseconds() / result.step_milliseconds;
  return result;
}

}  // namespace trainyard
