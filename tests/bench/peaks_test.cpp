// The peaks of a device: the computation from a clock, on a device with simulated time, and
// measurements on this machine.
#include "bench/peaks.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "simulated_gpu.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr double kBytesPerSecond = 2e9;
constexpr double kLaunchSeconds = 3e-6;
constexpr double kProductSeconds = 0.25;

/// The time of a CPU whose queue has a clock of its own: a copy takes time by its bytes, a sum
/// kLaunchSeconds, a product kProductSeconds. Enqueued work takes its time at the next wait.
struct SlowWorld {
  double clock = 0;    // seconds
  double pending = 0;  // time of the enqueued work
  bool recording = false;
  double recorded_seconds = 0;  // time of a replay
  std::size_t recorded = 0;     // its launches

  void put(double seconds) { (recording ? recorded_seconds : pending) += seconds; }
};

class SlowQueue final : public Queue {
 public:
  explicit SlowQueue(SlowWorld& world) : world_(world) {}
  void copy(void* to, const void* from, std::size_t bytes) override {
    cpu_->copy(to, from, bytes);
    world_.put(2 * static_cast<double>(bytes) / kBytesPerSecond);
  }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    cpu_->copy_from_host(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    cpu_->copy_to_host(to, from, bytes);
  }
  void fill(void* to, std::byte value, std::size_t bytes) override { cpu_->fill(to, value, bytes); }
  void wait() override {
    world_.clock += world_.pending;
    world_.pending = 0;
  }

 private:
  SlowWorld& world_;
  std::unique_ptr<Queue> cpu_ = make_cpu_device()->make_queue();
};

class SlowRecording final : public Recording {
 public:
  explicit SlowRecording(SlowWorld& world) : world_(world) {}
  void replay() override { world_.put(world_.recorded_seconds); }
  [[nodiscard]] std::size_t nodes() const override { return world_.recorded; }

 private:
  SlowWorld& world_;
};

class SlowDevice final : public Device {
 public:
  explicit SlowDevice(SlowWorld& world) : world_(world) {}
  [[nodiscard]] std::string name() const override { return "slow"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return cpu_->allocate_host(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<SlowQueue>(world_);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return cpu_->make_event(); }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue&, std::function<void()> work) override {
    world_.recording = true;
    work();
    world_.recording = false;
    return std::make_unique<SlowRecording>(world_);
  }
  [[nodiscard]] std::size_t free_bytes() const override { return 0; }

 private:
  SlowWorld& world_;
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

/// Takes its time instead of computing.
class SlowExecutor final : public Executor {
 public:
  SlowExecutor(SlowWorld& world, double seconds) : world_(world), seconds_(seconds) {}
  void bind(const StepTensors&) override {}
  void run() override {
    world_.put(seconds_);
    if (world_.recording) ++world_.recorded;
  }

 private:
  SlowWorld& world_;
  double seconds_;
};

class SlowExecutors final : public ExecutorFactory {
 public:
  explicit SlowExecutors(SlowWorld& world) : world_(world) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription&) const override {
    return std::make_unique<SlowExecutor>(world_, kProductSeconds);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout&, DType, const Layout&, DType,
                                                       int) const override {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout&, DType,
                                                          int) const override {
    return std::make_unique<SlowExecutor>(world_, kLaunchSeconds);
  }
  [[nodiscard]] std::string libraries() const override { return ""; }

 private:
  SlowWorld& world_;
};

struct SlowCompute {
  SlowWorld world;
  SlowDevice device{world};
  SlowQueue queue{world};
  SlowExecutors executors{world};
  std::unique_ptr<UpdateLaunches> launches = make_cpu_update_launches(1);

  [[nodiscard]] Compute compute() { return {device, queue, executors, *launches}; }
  [[nodiscard]] SecondsNow now() {
    return [this] { return world.clock; };
  }
};

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The CPU with these executors.
struct CpuCompute {
  explicit CpuCompute(std::unique_ptr<ExecutorFactory> factory) : executors(std::move(factory)) {}
  std::unique_ptr<ExecutorFactory> executors;
  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Queue> queue = device->make_queue();
  std::unique_ptr<UpdateLaunches> launches = make_cpu_update_launches(1);

  [[nodiscard]] Compute compute() const { return {*device, *queue, *executors, *launches}; }
};

}  // namespace

TEST_CASE("the copy bandwidth counts bytes read and written, by the time until they are done") {
  SlowCompute slow;
  const CopyWork copy = [&](void* to, const void* from, std::size_t bytes) {
    slow.queue.copy(to, from, bytes);
  };
  CHECK(measure_copy_rate(slow.compute(), copy, 1 << 20, slow.now()) == doctest::Approx(2));
  CHECK(slow.world.pending == 0);
}

TEST_CASE("a launch costs its share of a replay") {
  SlowCompute slow;
  CHECK(measure_launch(slow.compute(), slow.now()).value() == doctest::Approx(3));
  CHECK(slow.world.recorded > 100);
}

TEST_CASE("the throughput of a product counts two operations per multiply-add") {
  SlowCompute slow;
  const double rate =
      measure_product_rate(slow.compute(), reference_target(Precision::fp32), 64, 1, slow.now());
  CHECK(rate == doctest::Approx(2.0 * 64 * 64 * 64 / kProductSeconds * 1e-9));
}

TEST_CASE("synchronous work has no latency") {
  const CpuCompute cpu(make_reference_executors());
  CHECK_FALSE(measure_launch(cpu.compute(), steady_seconds).has_value());
}

TEST_CASE("peaks are measured even if the host cannot access the device's memory") {
  const auto executors = make_reference_executors();
  SimulatedGpu gpu(*executors);
  const Compute compute = gpu.compute();
  const CopyWork copy = [&](void* to, const void* from, std::size_t bytes) {
    compute.queue.copy(to, from, bytes);
  };
  CHECK(measure_copy_rate(compute, copy, 1 << 20, steady_seconds) > 0);
  CHECK_FALSE(measure_launch(compute, steady_seconds).has_value());
  CHECK(measure_product_rate(compute, reference_target(Precision::bf16), 16, 1, steady_seconds) >
        0);
}

TEST_CASE("copies on several threads copy every byte") {
  for (const int threads : {1, 3}) {
    std::vector<std::byte> from(1000003);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251);
    const auto to = make_cpu_device()->allocate(from.size());
    threaded_copy(threads)(to->data(), from.data(), from.size());
    CHECK(std::memcmp(to->data(), from.data(), from.size()) == 0);
  }
}

TEST_CASE("the memory of this machine moves between 0.1 and 10,000 GB/s") {
  const CpuCompute cpu(make_reference_executors());
  const double rate =
      measure_copy_rate(cpu.compute(), threaded_copy(2), std::size_t{32} << 20, steady_seconds);
  CHECK(rate > 0.1);
  CHECK(rate < 1e4);
}

TEST_CASE("a product runs on the executors of the CPU and of the reference device, in every type") {
  const CpuCompute cpu(make_cpu_executors());
  const double fast =
      measure_product_rate(cpu.compute(), cpu_target(false), 128, 1, steady_seconds);
  CHECK(fast > 0.1);
  CHECK(fast < 1e5);
  const CpuCompute reference(make_reference_executors());
  for (const Precision precision :
       {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}) {
    const double rate = measure_product_rate(reference.compute(), reference_target(precision), 32,
                                             1, steady_seconds);
    CHECK(rate > 1e-4);
    CHECK(rate < 1e5);
  }
}

TEST_CASE("all peaks of a CPU are measured, except for launches, which it does not have") {
  SessionDevice device;
  device.device = make_cpu_device();
  device.queue = device.device->make_queue();
  device.executors = make_cpu_executors();
  device.launches = make_cpu_update_launches(1);
  device.target = cpu_target(false);
  const Peaks peaks = measure_peaks(device, steady_seconds);
  CHECK(peaks.gflops > 0);
  CHECK(peaks.gflops < 1e5);
  CHECK(peaks.gigabytes_per_second > 0.1);
  CHECK(peaks.gigabytes_per_second < 1e4);
  CHECK_FALSE(peaks.launch_microseconds.has_value());
}

TEST_CASE("buffers for copies are large, but leave memory free") {
  const std::size_t wanted = copy_buffer_bytes(0);
  CHECK(wanted >= std::size_t{256} << 20);
  CHECK(copy_buffer_bytes(std::size_t{1} << 50) == wanted);
  CHECK(copy_buffer_bytes(1000) == 250);
}

TEST_CASE("a product is as large as half of the free memory allows") {
  CHECK(product_size(0, DType::f32) == 8192);
  CHECK(product_size(std::size_t{80} << 30, DType::f32) == 8192);
  // Four matrices of 8192 * 8192 floats are 1 GiB.
  CHECK(product_size(std::size_t{2} << 30, DType::f32) == 8192);
  CHECK(product_size((std::size_t{2} << 30) - 1, DType::f32) == 4096);
  CHECK(product_size(std::size_t{2} << 30, DType::f64) == 4096);
}
