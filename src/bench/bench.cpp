#include "bench/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/median.h"
#include "base/read_file.h"
#include "bench/step_runner.h"
#include "formats/json.h"
#include "graph/graph.h"
#include "graph/network_input.h"
#include "run/session/session_model.h"

namespace trainyard {

namespace {

double peak_resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Samples per second in each window.
std::vector<double> rates_of(StepRunner& runner, const BenchOptions& options,
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

void measure_rate(StepRunner& runner, const BenchOptions& options,
                  const std::function<double()>& now, BenchResult& result) {
  const std::vector<double> rates = rates_of(runner, options, now);
  result.images_per_second = median(rates);
  result.low = *std::min_element(rates.begin(), rates.end());
  result.high = *std::max_element(rates.begin(), rates.end());
  result.step_milliseconds = step_milliseconds(options, result.images_per_second);
}

void measure_passes(StepRunner& runner, const BenchOptions& options,
                    const std::function<double()>& now, BenchResult& result) {
  constexpr int kRepeats = 10;
  Program& program = runner.model().train();
  std::vector<StepTime> times;
  double update = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    program.run_timed(runner.model().compute().queue, times);
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
  const bool gpu = options.device.kind == DeviceChoice::Kind::gpu;
  if (options.layers && !gpu) result.layers = std::move(times);
}

void check_shards_divide(const RunConfig& run, std::int64_t batch) {
  const std::int64_t shards = run.batch.shards.value_or(1);
  if (batch % shards == 0) return;
  refuse_command("a batch of " + std::to_string(batch) +
                 " samples is not divisible by 'batch.shards: " + std::to_string(shards) +
                 "'; give a --batch that is a multiple of " + std::to_string(shards));
}

ShardsCost measure_shards(const RunConfig& run, const TrainingGraph& graph,
                          const BenchOptions& options, const SessionDevice& device,
                          const std::function<double()>& now) {
  const std::int64_t shards = *run.batch.shards;
  StepRunner runner(run, with_batch(graph, options.batch / shards), shards, runner_device(device));
  return {.count = shards,
          .step_milliseconds = step_milliseconds(options, median(rates_of(runner, options, now)))};
}

/// Everything but shards and peaks.
BenchResult measure_steps(const RunConfig& run, const TrainingGraph& graph,
                          const BenchOptions& options, const SessionDevice& device,
                          const std::function<double()>& now, double started) {
  StepRunner runner(run, graph, 1, runner_device(device));
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
  if (options.spans) {
    const auto recording = options.device.gpus->backend->record_timed(*device.device, *device.queue,
                                                                      [&] { runner.enqueue(); });
    result.spans = measure_spans(runner, recording.get(), count_step(run, graph, device.target));
  }
  if (gpu && options.layers) {
    result.node_times = time_nodes(runner, count_parts(run, graph, device.target), now);
  }
  return result;
}

BenchResult bench_on_device(const RunConfig& run, const BenchOptions& options,
                            const std::function<double()>& now, double started) {
  check_shards_divide(run, options.batch);
  if (options.spans && options.device.kind != DeviceChoice::Kind::gpu) {
    refuse_command("--node-times is of a GPU, and this run is on the CPU; choose one with --gpus");
  }
  const SessionDevice device = make_device(options.device, run);
  const TrainingGraph graph = make_training_graph(run, options.batch);
  BenchResult result = measure_steps(run, graph, options, device, now, started);
  if (run.batch.shards.value_or(1) > 1) {
    result.shards = measure_shards(run, graph, options, device, now);
  }
  if (options.device.kind == DeviceChoice::Kind::gpu) {
    result.nodes = node_counts(count_step(run, graph, device.target));
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

namespace {

std::string text_at(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : "";
}

std::string name_of(const Json& row) {
  std::string name = text_at(row, "peer");
  if (name.empty()) name = text_at(row, "program");
  const std::string mode = text_at(row, "mode");
  return mode.empty() ? name : name + ", " + mode;
}

}  // namespace

std::vector<PeerRate> read_peer_rates(const fs::path& path, const std::string& net,
                                      std::int64_t batch) {
  constexpr std::uint64_t kLimit = 16 << 20;
  std::istringstream lines(read_text(path, ErrorKind::data, kLimit));
  std::vector<PeerRate> rates;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const std::string place = path.string() + ":" + std::to_string(number);
    const Json row = parse_json(line, {.name = place});
    if (!row.is_object()) throw data_error(place + ": expected a JSON object");
    const bool rate = row.contains("images_per_s") && row["images_per_s"].is_number();
    const bool asked = text_at(row, "net") == net && row.contains("batch") && row["batch"] == batch;
    if (rate && asked) rates.push_back({name_of(row), row["images_per_s"].get<double>()});
  }
  if (!rates.empty()) return rates;
  throw data_error(path.string() + ": no line has \"net\": \"" + net + "\", \"batch\": " +
                   std::to_string(batch) + " and \"images_per_s\"; measure the peer at this batch");
}

}  // namespace trainyard
