#include "run/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

#include "base/philox.h"
#include "graph/graph.h"
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

/// FLOP of one training step: two a multiply-add, forward and both backward passes, less the input
/// gradient of the first layer, which nobody wants.
double training_flop(const Graph& graph) {
  double multiply_adds = 0;
  double first = 0;
  for (const Node& node : graph.nodes) {
    const auto count = static_cast<double>(node.signature.multiply_adds);
    if (count > 0 && first == 0) first = count;
    multiply_adds += count;
  }
  return 2 * (3 * multiply_adds - first);
}

/// A model with its updater on one fixed batch.
class Runner {
 public:
  Runner(RunConfig& run, const BenchOptions& options)
      : device_(make_device(options.device, run)),
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
  [[nodiscard]] std::size_t launches() const { return step_.launches(0); }
  /// Of the last step.
  [[nodiscard]] double loss() const {
    return totals_.loss / static_cast<double>(model_.memory().batch());
  }
  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] const SessionDevice& device() const { return device_; }
  [[nodiscard]] const Graph& graph() const { return graph_.graph; }

 private:
  void finish() {
    updater_.finish();
    if (updater_.full()) totals_ = updater_.take_oldest().back().totals;
  }

  SessionDevice device_;
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

}  // namespace

BenchResult bench(RunConfig run, const BenchOptions& options, const std::function<double()>& now,
                  double started) {
  Runner runner(run, options);
  runner.step();
  BenchResult result{.network = run.name,
                     .batch = options.batch,
                     .device = runner.device().text,
                     .threads = runner.device().threads,
                     .parameters = totals(runner.graph()).parameters_trainable};
  result.first_step_seconds = now() - started;
  measure_rate(runner, options, now, result);
  result.loss = runner.loss();
  measure_passes(runner, options, now, result);
  result.gflop_per_step = training_flop(runner.graph()) * 1e-9;
  result.launches = runner.launches();
  if (options.device.kind == DeviceChoice::Kind::gpu) {
    result.peak_mib = static_cast<double>(forecast(runner.model().programs()).total()) / (1 << 20);
    return result;
  }
  result.peak_gflops = measure_peak_gflops(result.threads, now);
  result.share_of_peak =
      result.gflop_per_step / (result.step_milliseconds * 1e-3) / result.peak_gflops;
  result.peak_mib = peak_resident_mib();
  return result;
}

}  // namespace trainyard
