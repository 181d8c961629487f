// Measures whole training steps in ways that the program has no option for: M5, weight gradients
// left out or beside each other; M12, two models at once.
#include <optional>

#include "base/text.h"
#include "bench/step_runner.h"
#include "cli/run_flags.h"
#include "left_out.h"
#include "program.h"
#include "run/session/session_model.h"

namespace trainyard::probe {
namespace {

/// What is trained, and on what.
struct Subject {
  RunConfig run;
  std::int64_t batch = 128;
  std::int64_t steps = 50;  // steps in a window of time
  DeviceChoice choice;

  [[nodiscard]] std::unique_ptr<StepRunner> runner(const RunnerDevice& device) const {
    return std::make_unique<StepRunner>(run, make_training_graph(run, batch), 1, device);
  }
};

double now_microseconds() {
  using Microseconds = std::chrono::duration<double, std::micro>;
  return Microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A step of all runners, on the average of a window; in the first one some are not recorded yet.
Spread time_steps(std::int64_t steps, const std::vector<StepRunner*>& runners) {
  constexpr int kUncounted = 1, kWindows = 7;
  std::vector<double> times;
  for (int window = 0; window < kUncounted + kWindows; ++window) {
    const double begin = now_microseconds();
    for (std::int64_t step = 0; step < steps; ++step) {
      for (StepRunner* const runner : runners) runner->step();
    }
    for (StepRunner* const runner : runners) runner->wait();
    if (window >= kUncounted)
      times.push_back((now_microseconds() - begin) / static_cast<double>(steps));
  }
  return spread_of(times);
}

Reading read_step(const Subject& subject, const SessionDevice& device,
                  const std::function<void(Target&)>& change, const ExecutorFactory& executors) {
  RunnerDevice changed = runner_device(device);
  change(changed.target);
  const Compute own = device.compute();
  const RunnerDevice used{{own.device, own.queue, executors, own.launches, own.copies, own.sums},
                          changed.target,
                          changed.threads,
                          changed.results_kept};
  const auto runner = subject.runner(used);
  const Spread spread = time_steps(subject.steps, {runner.get()});
  return {.spread = spread,
          .more = {{"samples_per_s", 1e6 * static_cast<double>(subject.batch) / spread.median},
                   {"nodes", runner->counts().launches}}};
}

/// Two models with devices, and so queues, of their own.
Reading read_two(const Subject& subject, const SessionDevice& device) {
  const SessionDevice other = make_device(subject.choice, subject.run);
  const auto first = subject.runner(runner_device(device));
  const auto second = subject.runner(runner_device(other));
  const double alone = time_steps(subject.steps, {first.get()}).median;
  const Spread both = time_steps(subject.steps, {first.get(), second.get()});
  return {.spread = both, .more = {{"alone_us", alone}, {"gain", 2 * alone / both.median}}};
}

std::vector<Measurement> step_measurements(const Subject& subject, const SessionDevice& device) {
  const std::string order = "whether own weight gradients come before own convolutions (60 us)";
  const auto beside = [&](std::size_t most, const char* predicted) {
    return Measurement{
        "M5.beside." + std::to_string(most), "a step with so many weight gradients beside at most",
        predicted, "Target::most_on_side_queue", [&subject, &device, most] {
          return read_step(
              subject, device, [=](Target& target) { target.most_on_side_queue = most; },
              *device.executors);
        }};
  };
  const auto on_main = [](Target& target) { target.can.set(Can::use_side_queue, false); };
  return {{"M5.none", "a step with convolutions' and dense layers' weight gradients left out",
           "1140 us", order,
           [&subject, &device, on_main] {
             const LeaveOutGradients fewer(*device.executors);
             return read_step(subject, device, on_main, fewer);
           }},
          {"M5.main", "a step with weight gradients on the main queue", "1600 us", order,
           [&subject, &device, on_main] {
             return read_step(subject, device, on_main, *device.executors);
           }},
          beside(1, "1300 us"),
          beside(2, "1296 us"),
          beside(4, "1290 us or less"),
          beside(8, "1290 us or less"),
          {"M12.two", "a step of each of two models, recordings on queues of one process",
           "1300 to 1600 us (gain 1.6 to 2)", "whether a sweep trains two models in a process",
           [&subject, &device] { return read_two(subject, device); }}};
}

int run(std::vector<std::string> arguments) {
  const Request request = take_request(arguments);
  cli::RunFlags flags{.config = "scripts/bench/resnet20.yaml", .precision = "bf16", .gpus = "1"};
  Subject subject;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) refuse_command(arguments[i] + " is unknown or needs a value");
    const std::string &word = arguments[i], &value = arguments[i + 1];
    const std::optional<std::int64_t> number = parse_integer(value);
    if (word == "--config") {
      flags.config = value;
    } else if (word == "--precision") {
      flags.precision = value;
    } else if (word == "--batch" && number && *number > 0) {
      subject.batch = *number;
    } else if (word == "--steps" && number && *number > 1) {
      subject.steps = *number;
    } else {
      refuse_command("unknown, or not a number: " + word + " " + value);
    }
  }
  subject.run = cli::read_config(flags);
  try {
    subject.choice = cli::device_choice(flags);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    return skip(std::string("no GPU: ") + error.what());
  }
  const SessionDevice device = make_device(subject.choice, subject.run);
  return finish(step_measurements(subject, device), request);
}

}  // namespace
}  // namespace trainyard::probe

int main(int count, char** words) {
  return trainyard::probe::run_program(
      {words + 1, words + count}, trainyard::probe::run,
      "probe_step [--config FILE] [--batch N] [--precision P] [--steps N] [--only M5,M12.two] "
      "[--seconds N] [--output FILE]\n");
}
