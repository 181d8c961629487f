#include "bench/peaks.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "compute/weight_packing.h"
#include "device/device.h"
#include "ops/dense.h"
#include "tensor/dtype.h"

namespace trainyard {

namespace {

constexpr int kRounds = 5;
constexpr double kRoundSeconds = 0.02;
constexpr double kMostCalls = 1000;

/// Seconds per call of what `work` enqueues: the least over a few rounds of as many calls as take
/// kRoundSeconds, after an uncounted one, in which libraries load what they need.
double seconds_a_call(Queue& queue, const std::function<void()>& work, const SecondsNow& now) {
  const auto seconds_of = [&](int calls) {
    const double begin = now();
    for (int call = 0; call < calls; ++call) work();
    queue.wait();
    return (now() - begin) / calls;
  };
  static_cast<void>(seconds_of(1));
  const double once = std::max(seconds_of(1), kRoundSeconds / kMostCalls);
  const int calls = std::max(1, static_cast<int>(kRoundSeconds / once));
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) least = std::min(least, seconds_of(calls));
  return least;
}

/// Uniform noise in [-1, 1): zeros would flatter processors whose clocks depend on the power drawn.
template <class T>
std::vector<T> noise(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Random4 draw = random4(1, RandomStream::synthetic, 1, 0, i / 4);
    values[i] = static_cast<T>(2 * uniform01(draw.word[i % 4]) - 1);
  }
  return values;
}

/// Fills a buffer with elements of `type`, the same noise in every MiB.
void fill_with_noise(Queue& queue, const DeviceBuffer& buffer, DType type) {
  with_float_type(type, [&]<class T>(std::type_identity<T>) {
    const std::size_t block = std::min<std::size_t>(buffer.bytes(), std::size_t{1} << 20);
    const std::vector<T> values = noise<T>((block + sizeof(T) - 1) / sizeof(T));
    auto* const to = static_cast<std::byte*>(buffer.data());
    for (std::size_t at = 0; at < buffer.bytes(); at += block) {
      queue.copy_from_host(to + at, values.data(), std::min(block, buffer.bytes() - at));
    }
    queue.wait();
  });
}

/// The input gradient of a dense layer, [size, size] by [size, size], with its memory. It reads
/// weights that are packed or rounded before: it does nothing but the product.
class SquareProduct {
 public:
  SquareProduct(const Compute& compute, const Target& target, std::int64_t size, int threads)
      : compute_(compute),
        layout_(plain_layout({size, size})),
        op_({.units = size, .bias = false}) {
    const Shape shape{size, size};
    executor_ = compute.executors.make({.op = &op_,
                                        .pass = Pass::backward_data,
                                        .storage = target.storage,
                                        .tf32 = target.tf32,
                                        .signature = op_.infer(std::span(&shape, 1)),
                                        .inputs = {layout_},
                                        .outputs = {layout_},
                                        .needs_input_gradient = {true},
                                        .threads = threads,
                                        .workspace_cap = target.workspace_cap});
    executor_->bind({.output_gradients = {matrix(target.storage)},
                     .input_gradients = {matrix(target.storage)},
                     .parameters = {matrix(weight_type(target))},
                     .reserve = room(executor_->reserve_bytes(), target.storage),
                     .workspace = room(executor_->workspace_bytes(), target.storage)});
  }
  void run() { executor_->run(); }

 private:
  [[nodiscard]] DType weight_type(const Target& target) const {
    const bool packed = weight_packing_of(compute_.executors) != nullptr;
    return packed ? target.storage : target.arithmetic();
  }
  TensorView matrix(DType type) {
    const auto elements = static_cast<std::size_t>(shape_of(layout_).elements());
    return {.data = room(elements * size_of(type), type), .type = type, .layout = layout_};
  }
  void* room(std::size_t bytes, DType type) {
    if (bytes == 0) return nullptr;
    buffers_.push_back(compute_.device.allocate(bytes));
    fill_with_noise(compute_.queue, *buffers_.back(), type);
    return buffers_.back()->data();
  }

  Compute compute_;
  Layout layout_;
  DenseOp op_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
  std::unique_ptr<Executor> executor_;
};

/// A chain of launches, each of which reads what the previous one wrote.
class Chain {
 public:
  static constexpr std::int64_t kElements = 64;
  static constexpr int kLength = 256;

  explicit Chain(const Compute& compute)
      : terms_(compute.device, kElements),
        sums_(compute.device, kElements),
        sum_(compute.executors.make_accumulate(plain_layout({1, kElements}), DType::f32, 1)) {
    for (const DeviceArray<float>* array : {&terms_, &sums_}) {
      compute.queue.fill(array->data(), std::byte{0}, array->span().size_bytes());
    }
    const auto view = [](const DeviceArray<float>& array) {
      return TensorView{.data = array.data(), .layout = plain_layout({1, kElements})};
    };
    sum_->bind({.inputs = {view(terms_)}, .outputs = {view(sums_)}});
  }
  void run() {
    for (int launch = 0; launch < kLength; ++launch) sum_->run();
  }

 private:
  DeviceArray<float> terms_, sums_;
  std::unique_ptr<Executor> sum_;
};

}  // namespace

std::size_t copy_buffer_bytes(std::size_t free) {
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);  // -1 or 0 where it is not known
  const std::size_t wanted =
      std::max(std::size_t{256} << 20, 2 * static_cast<std::size_t>(std::max<long>(cache, 0)));
  return free == 0 ? wanted : std::min(wanted, free / 4);
}

double measure_copy_rate(const Compute& compute, const CopyWork& copy, std::size_t bytes,
                         const SecondsNow& now) {
  const auto from = compute.device.allocate(bytes), to = compute.device.allocate(bytes);
  // Pages never written are all one page of zeros, which stays in the cache.
  compute.queue.fill(from->data(), std::byte{0x5a}, bytes);
  compute.queue.fill(to->data(), std::byte{0}, bytes);
  const double seconds = seconds_a_call(
      compute.queue, [&] { copy(to->data(), from->data(), bytes); }, now);
  return 2 * static_cast<double>(bytes) / seconds * 1e-9;
}

std::optional<double> measure_launch(const Compute& compute, const SecondsNow& now) {
  Chain chain(compute);
  chain.run();  // what libraries load lazily cannot be recorded
  const auto recording = compute.device.record(compute.queue, [&] { chain.run(); });
  if (recording->nodes() == 0) return std::nullopt;
  const double seconds = seconds_a_call(
      compute.queue, [&] { recording->replay(); }, now);
  return 1e6 * seconds / static_cast<double>(recording->nodes());
}

std::int64_t product_size(std::size_t free, DType type) {
  constexpr std::size_t kMatrices = 4;  // two factors, the result, the reserve
  std::int64_t size = 8192;
  while (free > 0 && size > 1 &&
         kMatrices * static_cast<std::size_t>(size * size) * size_of(type) > free / 2) {
    size /= 2;
  }
  return size;
}

double measure_product_rate(const Compute& compute, const Target& target, std::int64_t size,
                            int threads, const SecondsNow& now) {
  SquareProduct product(compute, target, size, threads);
  const double seconds = seconds_a_call(
      compute.queue, [&] { product.run(); }, now);
  const auto rows = static_cast<double>(size);
  return 2 * rows * rows * rows / seconds * 1e-9;
}

Peaks measure_peaks(const SessionDevice& device, const SecondsNow& now) {
  const Compute compute = device.compute();
  const bool gpu = device.total_bytes > 0;
  const CopyWork copy =
      gpu ? [&queue = compute.queue](void* to, const void* from,
                                     std::size_t bytes) { queue.copy(to, from, bytes); }
          : threaded_copy(device.threads);
  const std::size_t bytes = copy_buffer_bytes(device.device->free_bytes());
  Peaks peaks{.gigabytes_per_second = measure_copy_rate(compute, copy, bytes, now),
              .launch_microseconds = measure_launch(compute, now)};
  if (!gpu) {
    peaks.gflops = measure_peak_gflops(device.threads, now);
    return peaks;
  }
  const DType type = device.target.arithmetic();
  const std::int64_t size = product_size(device.device->free_bytes(), type);
  peaks.gflops = measure_product_rate(compute, device.target, size, device.threads, now);
  return peaks;
}

double Floors::milliseconds() const {
  return std::max({arithmetic_milliseconds, memory_milliseconds, latency_milliseconds.value_or(0)});
}

Floors floors_of(const StepCounts& counts, const Peaks& peaks) {
  TY_CHECK(peaks.gflops > 0 && peaks.gigabytes_per_second > 0, "peaks are measured");
  Floors floors{.arithmetic_milliseconds = 1e3 * counts.gflop / peaks.gflops,
                .memory_milliseconds = 1e3 * counts.gigabytes / peaks.gigabytes_per_second};
  if (peaks.launch_microseconds) {
    floors.latency_milliseconds =
        1e-3 * static_cast<double>(counts.launches) * *peaks.launch_microseconds;
  }
  return floors;
}

}  // namespace trainyard
