// The measured peaks of a device: its arithmetic, its memory and its launches, each alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "model/compute.h"
#include "run/session/session_device.h"

namespace trainyard {

/// What a training step does.
struct StepCounts {
  double gflop = 0;          // 1e9 floating-point operations (flop_of)
  double gigabytes = 0;      // 1e9 bytes read and written (bytes_moved, update_bytes)
  std::size_t launches = 0;  // one after another, on one queue; 0 if work runs synchronously
};

/// The peaks of a device, each measured where nothing else is the limit.
struct Peaks {
  double gflops = 0;                // 1e9 floating-point operations per second
  double gigabytes_per_second = 0;  // memory bandwidth, bytes read and written
  /// Time that a launch adds to a replayed recording in which each waits for the previous one;
  /// empty if work runs synchronously.
  std::optional<double> launch_microseconds;
};

/// Lower bounds on the time of a step, each for its own reason. The one of memory assumes that
/// every byte comes from memory: data that stay in a cache between two steps of the plan move
/// faster, so that a small training step may beat it.
struct Floors {
  double arithmetic_milliseconds = 0;
  double memory_milliseconds = 0;
  std::optional<double> latency_milliseconds;  // empty if work runs synchronously

  /// The largest of them.
  [[nodiscard]] double milliseconds() const;
};

/// Pure. Peaks must be above 0 (Error{bug}).
[[nodiscard]] Floors floors_of(const StepCounts& counts, const Peaks& peaks);

/// A clock in seconds.
using SecondsNow = std::function<double()>;

/// All peaks of a device, in the precision of its target, with nothing else running on it. On the
/// CPU: a loop of multiply-adds and copies on the session's threads. On a GPU: the product of two
/// large matrices, copies on the queue and replayed launches. Takes up to half of the free memory,
/// and seconds. Throws Error{memory}, Error{device}.
[[nodiscard]] Peaks measure_peaks(const SessionDevice& device, const SecondsNow& now);

/// Enqueues a copy within the memory of a device.
using CopyWork = std::function<void(void* to, const void* from, std::size_t bytes)>;
/// Copies on the CPU's threads, a part each, with stores that bypass the caches: others first read
/// what they overwrite, which would not be counted. Done when the call returns. `to` is aligned to
/// 64 bytes.
[[nodiscard]] CopyWork threaded_copy(int threads);
/// Bytes of each of two buffers for copies that do not profit from caches: together four times the
/// last-level cache of this machine, at least 512 MiB (more than the caches of GPUs), at most a
/// quarter of the `free` bytes (0: not known).
[[nodiscard]] std::size_t copy_buffer_bytes(std::size_t free);
/// 1e9 bytes per second that `copy` reads and writes, `bytes` per call.
[[nodiscard]] double measure_copy_rate(const Compute& compute, const CopyWork& copy,
                                       std::size_t bytes, const SecondsNow& now);

/// Microseconds per additional launch in a recording in which each waits for the previous one: a
/// chain of sums of 64 floats onto the same 64. Empty if work runs synchronously.
[[nodiscard]] std::optional<double> measure_launch(const Compute& compute, const SecondsNow& now);

/// A size for measure_product_rate(): 8192, halved until its matrices take at most half of the
/// `free` bytes (0: not known).
[[nodiscard]] std::int64_t product_size(std::size_t free, DType type);
/// GFLOP/s of a product of two square matrices of `size` rows of noise: the input gradient of a
/// dense layer, with its factors stored and rounded as on `target`.
[[nodiscard]] double measure_product_rate(const Compute& compute, const Target& target,
                                          std::int64_t size, int threads, const SecondsNow& now);

}  // namespace trainyard
