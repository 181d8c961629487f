// The runtime's functions for streams and events.
#include <algorithm>
#include <chrono>
#include <list>
#include <memory>

#include "calls.h"

using namespace standin;

namespace {

struct Event {
  int device = 0;
  bool timed = true;
  std::shared_ptr<Mark> mark = nullptr;  // mark of the last record; null: none
  Capturing captured = {};               // if that record is part of a capture
};

/// All events of the process, guarded by the machine's lock.
std::list<Event>& events() {
  static std::list<Event>& all = *std::make_unique<std::list<Event>>().release();
  return all;
}

Event& event_of(Machine& machine, cudaEvent_t handle) {
  for (Event& event : events()) {
    if (static_cast<void*>(&event) != handle) continue;
    const Device& device = machine.devices()[static_cast<std::size_t>(event.device)];
    require(!Machine::is_broken(device), device.broken);
    return event;
  }
  throw Refused(cudaErrorInvalidResourceHandle);
}

void make_event(cudaEvent_t* handle, bool timed) {
  require(handle != nullptr, cudaErrorInvalidValue);
  Event& event = events().emplace_back();
  event.device = current_device();
  event.timed = timed;
  *handle = static_cast<cudaEvent_t>(static_cast<void*>(&event));
}

/// The host may neither wait for nor query an event of a capture.
void require_not_captured(Machine& machine, const Event& event) {
  if (event.captured.capture != nullptr) {
    invalidate(*event.captured.capture, cudaErrorCapturedEvent);
  }
  require_no_capture(machine);
}

void require_not_captured(Machine& machine, const Stream& stream) {
  if (stream.capturing.capture != nullptr) {
    require_valid(*stream.capturing.capture);
    invalidate(*stream.capturing.capture, cudaErrorStreamCaptureUnsupported);
  }
  if (&stream == &machine.device_of(stream).legacy) require_free_legacy(machine, stream.device);
  require_no_capture(machine);
}

/// A captured stream may wait for nothing outside its capture.
void wait_on(Machine& machine, Stream& stream, const Event& event) {
  if (event.captured.capture != nullptr) {
    if (&stream == &machine.device_of(stream).legacy) {
      invalidate(*event.captured.capture, cudaErrorStreamCaptureImplicit);
    }
    join(stream, event.captured);
    return;
  }
  if (stream.capturing.capture != nullptr) {
    require_valid(*stream.capturing.capture);
    // Documented for an event recorded outside; for one that was never recorded, or whose capture
    // has ended, the code is unknown.
    invalidate(*stream.capturing.capture, cudaErrorStreamCaptureIsolation);
  }
  if (event.mark != nullptr && !event.mark->reached) machine.put(stream, {.awaited = event.mark});
}

void record(Machine& machine, Event& event, Stream& stream) {
  require(event.device == stream.device, cudaErrorInvalidResourceHandle);
  event.captured = stream.capturing;
  event.mark = nullptr;
  if (stream.capturing.capture != nullptr) {
    require_valid(*stream.capturing.capture);
  } else {
    event.mark = machine.mark(stream);
  }
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  return answer("cudaStreamCreateWithFlags", Needs::context, [&](Machine& machine, auto&) {
    require(handle != nullptr && flags <= cudaStreamNonBlocking, cudaErrorInvalidValue);
    Stream& stream = machine.make_stream(current_device(), flags != cudaStreamNonBlocking);
    *handle = static_cast<cudaStream_t>(static_cast<void*>(&stream));
  });
}

// A priority outside the range is moved into it (the function's page), and work is not ordered by
// it: that is left to the GPU.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int priority) {
  return answer("cudaStreamCreateWithPriority", Needs::context, [&](Machine& machine, auto&) {
    require(handle != nullptr && flags <= cudaStreamNonBlocking, cudaErrorInvalidValue);
    Stream& stream = machine.make_stream(current_device(), flags != cudaStreamNonBlocking);
    stream.priority = std::clamp(priority, kMostUrgent, 0);
    *handle = static_cast<cudaStream_t>(static_cast<void*>(&stream));
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return answer("cudaDeviceGetStreamPriorityRange", Needs::context, [&](Machine&, auto&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kMostUrgent;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return answer("cudaStreamGetPriority", Needs::context, [&](Machine& machine, auto&) {
    require(priority != nullptr, cudaErrorInvalidValue);
    *priority = stream_of(machine, handle).priority;
  });
}

// Its work is still done. A stream that is being captured invalidates the capture.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return answer("cudaStreamDestroy", Needs::context, [&](Machine& machine, auto&) {
    Stream& stream = stream_of(machine, handle);
    require(&stream != &machine.device_of(stream).legacy, cudaErrorInvalidResourceHandle);
    abandon(machine, stream);
    machine.destroy(stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return answer("cudaStreamSynchronize", Needs::context,
                [&](Machine& machine, Machine::Lock& lock) {
                  Stream& stream = stream_of(machine, handle);
                  require_not_captured(machine, stream);
                  machine.wait(lock, *machine.mark(stream));
                });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  return answer("cudaStreamWaitEvent", Needs::context, [&](Machine& machine, auto&) {
    require(flags == 0, cudaErrorInvalidValue);  // no other is used
    wait_on(machine, stream_of(machine, handle), event_of(machine, event));
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  return answer("cudaEventCreateWithFlags", Needs::context, [&](Machine&, auto&) {
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
    require((flags & ~kKnown) == 0, cudaErrorInvalidValue);
    make_event(handle, (flags & cudaEventDisableTiming) == 0);
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  return answer("cudaEventCreate", Needs::context,
                [&](Machine&, auto&) { make_event(handle, true); });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return answer("cudaEventDestroy", Needs::context, [&](Machine& machine, auto&) {
    const Event& event = event_of(machine, handle);
    events().remove_if([&](const Event& one) { return &one == &event; });
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return answer("cudaEventRecord", Needs::context, [&](Machine& machine, auto&) {
    record(machine, event_of(machine, event), stream_of(machine, stream));
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return answer("cudaEventSynchronize", Needs::context, [&](Machine& machine, Machine::Lock& lock) {
    const Event& event = event_of(machine, handle);
    require_not_captured(machine, event);
    const std::shared_ptr<Mark> mark = event.mark;
    if (mark != nullptr) machine.wait(lock, *mark);
  });
}

// An event that is not reached leaves cudaErrorNotReady as the thread's last error, like any result
// other than success.
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return answer("cudaEventQuery", Needs::context, [&](Machine& machine, auto&) {
    const Event& event = event_of(machine, handle);
    require_not_captured(machine, event);
    require(event.mark == nullptr || event.mark->reached, cudaErrorNotReady);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return answer("cudaEventElapsedTime", Needs::context, [&](Machine& machine, auto&) {
    require(milliseconds != nullptr, cudaErrorInvalidValue);
    const Event& one = event_of(machine, start);
    const Event& two = event_of(machine, end);
    for (const Event* event : {&one, &two}) {
      require(event->timed && event->mark != nullptr, cudaErrorInvalidResourceHandle);
      require(event->mark->reached, cudaErrorNotReady);
    }
    *milliseconds =
        std::chrono::duration<float, std::milli>(two.mark->time - one.mark->time).count();
  });
}

}  // extern "C"
