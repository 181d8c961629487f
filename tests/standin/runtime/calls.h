// Common parts of the runtime's functions.
#pragma once

#include <cuda_runtime_api.h>

#include "capture.h"
#include "errors.h"
#include "machine.h"

namespace standin {

/// Preconditions of a call.
enum class Needs {
  driver,   // a driver that is new enough, and a GPU
  context,  // also this process's context on the thread's device, which must not be broken
};

/// Throws Refused for what is missing, for a failure requested for this call, and in a child of the
/// process that has begun to use CUDA.
void enter(Machine& machine, const char* call, Needs needs);
/// Adds to calls_made(), under the machine's lock.
void count_call(const char* call);

/// Throws Refused unless `condition`.
inline void require(bool condition, cudaError_t error) {
  if (!condition) throw Refused(error);
}
/// The stream; throws Refused for an invalid handle, and for a stream of a broken device.
[[nodiscard]] Stream& stream_of(Machine& machine, cudaStream_t handle);

/// A complete call: work(machine, lock) once it may start; what it throws is the result.
template <class F>
cudaError_t answer(const char* call, Needs needs, const F& work) {
  try {
    Machine& machine = Machine::get();
    Machine::Lock lock = machine.lock();
    enter(machine, call, needs);
    work(machine, lock);
    count_call(call);
    return cudaSuccess;
  } catch (const Refused& refused) {
    return answered(refused.error);
  }
}

/// Enqueues work on a stream, or adds it to the graph being captured, by the rules of a launch.
void launch(Machine& machine, Stream& stream, const Task& task, Work work, Launched launched = {});

}  // namespace standin
