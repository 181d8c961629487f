// What the stand-in libraries share: work on the streams of the stand-in runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace standin {

/// A piece of a stream's work, executed by the device's own thread while the device's memory is
/// open: called again and again from when its turn comes until it answers true, between which other
/// streams go on. A graph calls it anew in every replay. It calls no function of the runtime but
/// those below, and throws nothing. It is destroyed when it can never be called again: one of a
/// graph with the graph and all that was instantiated of it.
using Work = std::function<bool()>;

/// Called when work is launched, before it may be executed: by enqueue() itself where nothing
/// captures, else by each launch of the graph, its nodes in the order of their capture. It is
/// called under the runtime's lock, and calls nothing of the runtime.
using Launched = std::function<void()>;

/// Puts `work` on `stream`, or into the graph that the stream is being captured into. Answers what
/// a launch would: cudaSuccess, a sticky error of the device, or an error of capture. `what` names
/// it in reports, and lives for ever; STANDIN_FAULTS counts it by that name and as "launch" (see
/// faults.h). Any thread may call it.
[[nodiscard]] cudaError_t enqueue(cudaStream_t stream, const char* what, Work work,
                                  Launched launched = {});

/// Whether `stream` is being captured; cudaErrorStreamCaptureInvalidated and its like as the
/// runtime gives them.
[[nodiscard]] cudaError_t is_capturing(cudaStream_t stream, bool& capturing);

/// Whether all `bytes` from `memory` lie in one block of cudaMalloc of any device of this process.
[[nodiscard]] bool is_device_memory(const void* memory, std::size_t bytes);

/// The ordinal of the device whose stream it is; -1 for what is no stream.
[[nodiscard]] int device_of(cudaStream_t stream);

/// From now on the device answers `error` at every call, as after a fault on it; work under way
/// stays undone.
void break_device(int device, cudaError_t error);

}  // namespace standin
