// How fast a training step could be: the floors of its time.
#pragma once

#include <cstddef>
#include <optional>

namespace trainyard {

/// What a training step does.
struct StepCounts {
  double gflop = 0;          // 1e9 floating-point operations (flop_of)
  double gigabytes = 0;      // 1e9 bytes read and written (bytes_moved, update_bytes)
  std::size_t launches = 0;  // one after another, on one queue; 0 where work runs at once
};

/// What a device reaches, measured where nothing else limits it.
struct Peaks {
  double gflops = 0;                // 1e9 floating-point operations a second
  double gigabytes_per_second = 0;  // of its memory, bytes read and written
  /// What a launch adds to a replayed recording where each waits for the one before it; empty
  /// where work runs at once.
  std::optional<double> launch_microseconds;
};

/// Times below which a step cannot come, each for a reason of its own. The one of memory takes
/// every byte to come from memory: what stays in a cache between two steps of the plan moves
/// faster, so that a small training step may beat it.
struct Floors {
  double arithmetic_milliseconds = 0;
  double memory_milliseconds = 0;
  std::optional<double> latency_milliseconds;  // empty where work runs at once

  /// The largest of them.
  [[nodiscard]] double milliseconds() const;
};

/// Pure. Peaks must be above 0 (Error{bug}).
[[nodiscard]] Floors floors_of(const StepCounts& counts, const Peaks& peaks);

}  // namespace trainyard
