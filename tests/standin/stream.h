// Shared by the stand-in libraries: work on the streams of the stand-in runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace standin {

/// A piece of a stream's work, executed by the device's own thread while the device's memory is
/// open: called again and again from its turn on until it returns true; other streams proceed in
/// between. A graph calls it again in every replay. It calls no function of the runtime except
/// those below, and throws nothing. It is destroyed when it can never be called again: one of a
/// graph together with the graph and everything instantiated from it.
using Work = std::function<bool()>;

/// Called when work is launched, before it may be executed: by enqueue() itself if the stream is
/// not captured, else by each launch of the graph, in the order of capture of its nodes. It is
/// called under the runtime's lock, and calls nothing of the runtime.
using Launched = std::function<void()>;

/// Enqueues `work` on `stream`, or adds it to the graph that the stream is being captured into.
/// Returns a launch's result: cudaSuccess, a sticky error of the device, or an error of capture.
/// `what` names it in reports, and lives forever; STANDIN_FAULTS counts it by that name and as
/// "launch" (see faults.h). Thread-safe.
[[nodiscard]] cudaError_t enqueue(cudaStream_t stream, const char* what, Work work,
                                  Launched launched = {});

/// Whether `stream` is being captured; may return cudaErrorStreamCaptureInvalidated and the like,
/// as the runtime does.
[[nodiscard]] cudaError_t is_capturing(cudaStream_t stream, bool& capturing);

/// Whether all `bytes` from `memory` are in one block of cudaMalloc on any device of this process.
[[nodiscard]] bool is_device_memory(const void* memory, std::size_t bytes);

/// The ordinal of the stream's device; -1 for an invalid handle.
[[nodiscard]] int device_of(cudaStream_t stream);

/// From now on the device returns `error` from every call, as after a fault; work in progress is
/// not finished.
void break_device(int device, cudaError_t error);

}  // namespace standin
