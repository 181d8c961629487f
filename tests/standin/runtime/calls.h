// What the functions of the runtime have in common.
#pragma once

#include <cuda_runtime_api.h>

#include "errors.h"
#include "machine.h"

namespace standin {

/// What a call wants before it does anything.
enum class Needs {
  driver,   // that there is one, new enough, and a GPU
  context,  // also this process's context on the thread's device, which is not broken
};

/// Throws Refused for what is missing, for a failure requested of this call, and in a child of the
/// process that has begun to use CUDA.
void enter(Machine& machine, const char* call, Needs needs);

/// Throws Refused unless `condition`.
inline void require(bool condition, cudaError_t error) {
  if (!condition) throw Refused(error);
}
/// The stream; throws Refused for a handle that is none, and for one of a broken device.
[[nodiscard]] Stream& stream_of(Machine& machine, cudaStream_t handle);

/// The whole of a call: work(machine, lock) once it may begin; what it throws is the answer.
template <class F>
cudaError_t answer(const char* call, Needs needs, const F& work) {
  try {
    Machine& machine = Machine::get();
    Machine::Lock lock = machine.lock();
    enter(machine, call, needs);
    work(machine, lock);
    return cudaSuccess;
  } catch (const Refused& refused) {
    return answered(refused.error);
  }
}

/// Puts work on a stream, or into the graph that it is captured into, by the rules of a launch.
void launch(Machine& machine, Stream& stream, const char* what, Work work, Launched launched = {});

}  // namespace standin
