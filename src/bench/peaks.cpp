#include "bench/peaks.h"

#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
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
  ExecutorPtr executor_;
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
  ExecutorPtr sum_;
};

constexpr int kChains = 12;  // independent chains hide the latency of a fused multiply-add

__attribute__((target("avx512f"))) float fma_loop_avx512(std::int64_t rounds) {
  __m512 sums[kChains];
  const __m512 factor = _mm512_set1_ps(0.999f);
  const __m512 term = _mm512_set1_ps(0.001f);
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
  }
  float total = 0;
  for (const __m512& sum : sums) {
    alignas(64) float lanes[16];
    _mm512_store_ps(lanes, sum);
    for (const float lane : lanes) total += lane;
  }
  return total;
}

__attribute__((target("avx2,fma"))) float fma_loop_avx2(std::int64_t rounds) {
  __m256 sums[kChains];
  const __m256 factor = _mm256_set1_ps(0.999f);
  const __m256 term = _mm256_set1_ps(0.001f);
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
  }
  float total = 0;
  for (const __m256& sum : sums) {
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, sum);
    for (const float lane : lanes) total += lane;
  }
  return total;
}

constexpr std::size_t kLine = 64;  // bytes of a cache line

__attribute__((target("avx2"))) void stream_lines(std::byte* to, const std::byte* from,
                                                  std::int64_t lines) {
  for (std::int64_t line = 0; line < lines; ++line, to += kLine, from += kLine) {
    const auto* const source = reinterpret_cast<const __m256i*>(from);
    auto* const target = reinterpret_cast<__m256i*>(to);
    const __m256i low = _mm256_loadu_si256(source), high = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(target, low);
    _mm256_stream_si256(target + 1, high);
  }
  _mm_sfence();
}

/// Single-precision fused multiply-add throughput of this machine's vector units on `threads`
/// threads, in GFLOP/s: a loop on registers only.
double measure_peak_gflops(int threads, const SecondsNow& now) {
  constexpr std::int64_t kFmaRounds = 4'000'000;
  const bool wide = processor_has_avx512();
  const double lanes = wide ? 16 : 8;
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<float> sink(static_cast<std::size_t>(threads));
    const double begin = now();
    parallel_ranges(threads, threads, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t thread = first; thread < last; ++thread) {
        sink[thread] = wide ? fma_loop_avx512(kFmaRounds) : fma_loop_avx2(kFmaRounds);
      }
    });
    const double seconds = now() - begin;
    // The sums are never negative; using them keeps the loops from being optimised away.
    if (sink[0] < 0) return 0;
    best = std::max(best, 2.0 * lanes * kChains * kFmaRounds * threads / seconds * 1e-9);
  }
  return best;
}

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

CopyWork threaded_copy(int threads) {
  return [threads](void* to, const void* from, std::size_t bytes) {
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    const std::size_t whole = bytes / kLine * kLine;
    parallel_ranges(threads, static_cast<std::int64_t>(bytes / kLine), 1,
                    [&](std::int64_t first, std::int64_t last) {
                      const std::size_t begin = static_cast<std::size_t>(first) * kLine;
                      stream_lines(target + begin, source + begin, last - first);
                    });
    std::memcpy(target + whole, source + whole, bytes - whole);
  };
}

}  // namespace trainyard
