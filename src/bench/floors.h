// How fast a training step could be: its roofline.
#pragma once

#include <cstddef>
#include <optional>

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
  double gigabytes_per_second = 0;  // of its memory, bytes read and written
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

}  // namespace trainyard
