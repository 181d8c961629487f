// Settings that tests of the runtime make in their own process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace standin {

/// Replaces STANDIN_FAULTS; counting starts again.
void request_failures(std::string_view text);

/// How long no host enqueues anything before all work is done, requested or not. A millisecond by
/// default.
void set_idle(std::chrono::milliseconds idle);

/// The nodes of the graph that was instantiated last, in order of capture: a kernel's functor, or
/// what else is enqueued there ("copy", "matrix product").
[[nodiscard]] std::vector<std::string> last_recording();

/// The edges of that graph by kind: kernels that may begin early wait at the end of programmatic
/// ones.
struct RecordedEdges {
  std::size_t programmatic = 0, full = 0;
};
[[nodiscard]] RecordedEdges last_recorded_edges();

/// How often this process has made calls of this name that were accepted: "cudaMemcpyAsync".
[[nodiscard]] std::uint64_t calls_made(std::string_view name);

}  // namespace standin
