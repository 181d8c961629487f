// Timing by replays, on a simulated device and clock.
#include <doctest/doctest.h>

#include <cmath>

#include "../base/error_of.h"
#include "compute/conv/cudnn/engine_trial.h"

using namespace trainyard;
using cudnn::replay_milliseconds;

namespace {

/// Records enqueued work by counting: a replay runs nothing.
class CountingDevice final : public Device {
 public:
  /// `milliseconds` of one run in each replay in turn; the last repeats.
  explicit CountingDevice(std::vector<double> milliseconds)
      : milliseconds_(std::move(milliseconds)) {}
  [[nodiscard]] std::string name() const override { return "counting"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t) override { return nullptr; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t) override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return make_cpu_device()->make_queue();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return nullptr; }
  [[nodiscard]] std::size_t free_bytes() const override { return 0; }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue&, std::function<void()> work) override {
    if (refuses) throw Error(ErrorKind::device, "work that cannot be recorded");
    recorded = 0;
    work();
    recordings.push_back(recorded);
    return std::make_unique<Replays>(*this, recorded);
  }

  void run() { ++recorded; }
  /// As for a stream between two events.
  double time(const std::function<void()>& work) {
    const double before = clock_;
    work();
    return clock_ - before;
  }

  bool refuses = false;
  int recorded = 0;             // runs of the recording in progress
  std::vector<int> recordings;  // runs in each
  int replays = 0;

 private:
  class Replays final : public Recording {
   public:
    Replays(CountingDevice& device, int runs) : device_(device), runs_(runs) {}
    void replay() override { device_.pass(runs_); }
    [[nodiscard]] std::size_t nodes() const override { return 0; }

   private:
    CountingDevice& device_;
    int runs_;
  };
  void pass(int runs) {
    const auto at = std::min(static_cast<std::size_t>(replays++), milliseconds_.size() - 1);
    clock_ += milliseconds_[at] * runs;
  }

  std::vector<double> milliseconds_;
  double clock_ = 0;
};

double time_on(CountingDevice& device, double best = INFINITY) {
  const std::unique_ptr<Queue> queue = device.make_queue();
  return replay_milliseconds(
      device, *queue, [&](const std::function<void()>& work) { return device.time(work); },
      [&] { device.run(); }, best);
}

}  // namespace

TEST_CASE("many runs are recorded, and a replay of them is timed") {
  CountingDevice device({0.125});
  CHECK(time_on(device) == 0.125);
  CHECK(device.recordings == std::vector<int>{1, 8});
}

TEST_CASE("the minimum of the replays counts, except the first replay of each recording") {
  CountingDevice device({9, 0.25, 9, 0.5, 0.25, 0.75});
  CHECK(time_on(device) == 0.25);
  CHECK(device.replays == 6);
  // The replays that only load a graph may be as fast as they like.
  CountingDevice loads({0.001, 0.25, 0.001, 0.5});
  CHECK(time_on(loads) == 0.5);
}

TEST_CASE("a run that exceeds a trial's time is recorded once, a short one at most 20") {
  CountingDevice slow({4.0});
  CHECK(time_on(slow) == 4.0);
  CHECK(slow.recordings == std::vector<int>{1, 1});
  CountingDevice quick({1.0 / 1024});
  CHECK(time_on(quick) == 1.0 / 1024);
  CHECK(quick.recordings == std::vector<int>{1, 20});
  CountingDevice nothing({0});
  CHECK(time_on(nothing) == 0);
}

TEST_CASE("work hopelessly slower than the best is not timed again") {
  CountingDevice device({4.0});
  CHECK(std::isinf(time_on(device, 1.0)));
  CHECK(device.recordings == std::vector<int>{1});
  CountingDevice near({2.0});
  CHECK(time_on(near, 1.0) == 2.0);
}

TEST_CASE("work that fails, or that cannot be recorded, is an error") {
  CountingDevice device({1.0});
  device.refuses = true;
  CHECK(testing::error_of(ErrorKind::device, [&] { static_cast<void>(time_on(device)); }) ==
        "work that cannot be recorded");
  const std::unique_ptr<Queue> queue = device.make_queue();
  const auto fail = [] { throw Error(ErrorKind::device, "no kernel image"); };
  const auto time = [](const std::function<void()>&) { return 1.0; };
  CHECK(testing::error_of(ErrorKind::device, [&] {
          static_cast<void>(replay_milliseconds(device, *queue, time, fail, 1.0));
        }) == "no kernel image");
}

TEST_CASE("replay_once runs, records and replays once; work that cannot be recorded is refused") {
  CountingDevice device({1.0});
  const auto queue = device.make_queue();
  const auto once = [&] { cudnn::replay_once(device, *queue, [&] { device.run(); }); };
  once();
  CHECK(device.recordings == std::vector<int>{1});
  CHECK(device.replays == 1);
  device.refuses = true;
  CHECK(testing::error_of(ErrorKind::device, once) == "work that cannot be recorded");
}
