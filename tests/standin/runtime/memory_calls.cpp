// The runtime's memory functions.
#include <cstring>
#include <memory>
#include <vector>

#include "calls.h"

using namespace standin;

namespace {

Device& own_device(Machine& machine) {
  return machine.devices()[static_cast<std::size_t>(current_device())];
}

bool on_device(Machine& machine, const void* memory, std::size_t bytes) {
  for (const Device& device : machine.devices()) {
    if (device.memory.holds(memory, bytes)) return true;
  }
  return false;
}

/// Throws Refused unless each side is where the kind says and, on a device, whole in one block.
void require_sides(Machine& machine, const void* to, const void* from, std::size_t bytes,
                   cudaMemcpyKind kind) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  require(to_device || from_device, cudaErrorInvalidMemcpyDirection);
  require(on_device(machine, to, bytes) == to_device, cudaErrorInvalidValue);
  require(on_device(machine, from, bytes) == from_device, cudaErrorInvalidValue);
}

Work copy_of(void* to, const void* from, std::size_t bytes) {
  return [=] {
    std::memcpy(to, from, bytes);
    return true;
  };
}

/// From memory that is not pinned: the bytes are copied now, so that the host may overwrite them.
Work staged_copy(void* to, const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
  return [=] {
    std::memcpy(to, staged->data(), bytes);
    return true;
  };
}

/// A copy on a stream. With memory that is not pinned it does not return before the host's side can
/// be reused, and cannot be captured.
void copy(Machine& machine, Machine::Lock& lock, Stream& stream, void* to, const void* from,
          std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  require_sides(machine, to, from, bytes, kind);
  const void* const host = kind == cudaMemcpyHostToDevice ? from : to;
  const bool direct = kind == cudaMemcpyDeviceToDevice || machine.pinned().holds(host, bytes);
  if (!direct && stream.capturing.capture != nullptr) {
    require_valid(*stream.capturing.capture);
    invalidate(*stream.capturing.capture, cudaErrorStreamCaptureUnsupported);
  }
  const bool staged = !direct && kind == cudaMemcpyHostToDevice;
  launch(machine, stream, {"copy"},
         staged ? staged_copy(to, from, bytes) : copy_of(to, from, bytes));
  if (!direct && !staged) machine.wait(lock, *machine.mark(stream));
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return answer("cudaMalloc", Needs::context, [&](Machine& machine, auto&) {
    require(memory != nullptr, cudaErrorInvalidValue);
    require_no_capture(machine);
    *memory = nullptr;
    if (bytes == 0) return;
    Device& device = own_device(machine);
    require(bytes <= Machine::free_bytes(device), cudaErrorMemoryAllocation);
    *memory = device.memory.allocate(bytes);
    require(*memory != nullptr, cudaErrorMemoryAllocation);
    Machine::tell_usage(device);
  });
}

// Waits for all work of the memory's device.
cudaError_t cudaFree(void* memory) {
  return answer("cudaFree", Needs::context, [&](Machine& machine, Machine::Lock& lock) {
    if (memory == nullptr) return;
    require_no_capture(machine);
    for (Device& device : machine.devices()) {
      if (!device.memory.holds(memory, 1)) continue;
      machine.wait_for_device(lock, device);
      require(device.memory.free(memory), cudaErrorInvalidValue);
      Machine::tell_usage(device);
      return;
    }
    throw Refused(cudaErrorInvalidValue);
  });
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return answer("cudaMallocHost", Needs::context, [&](Machine& machine, auto&) {
    require(memory != nullptr, cudaErrorInvalidValue);
    require_no_capture(machine);
    *memory = bytes == 0 ? nullptr : machine.pinned().allocate(bytes);
    require(bytes == 0 || *memory != nullptr, cudaErrorMemoryAllocation);
  });
}

cudaError_t cudaFreeHost(void* memory) {
  return answer("cudaFreeHost", Needs::context, [&](Machine& machine, Machine::Lock& lock) {
    if (memory == nullptr) return;
    require_no_capture(machine);
    for (Device& device : machine.devices()) machine.wait_for_device(lock, device);
    require(machine.pinned().free(memory), cudaErrorInvalidValue);
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return answer("cudaMemGetInfo", Needs::context, [&](Machine& machine, auto&) {
    require(free != nullptr && total != nullptr, cudaErrorInvalidValue);
    const Device& device = own_device(machine);
    *free = Machine::free_bytes(device);
    *total = device.gpu.bytes;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  return answer("cudaMemcpyAsync", Needs::context, [&](Machine& machine, Machine::Lock& lock) {
    copy(machine, lock, stream_of(machine, handle), to, from, bytes, kind);
  });
}

// On the legacy stream, and waits for it.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return answer("cudaMemcpy", Needs::context, [&](Machine& machine, Machine::Lock& lock) {
    Stream& legacy = own_device(machine).legacy;
    require_free_legacy(machine, legacy.device);
    require_no_capture(machine);
    copy(machine, lock, legacy, to, from, bytes, kind);
    machine.wait(lock, *machine.mark(legacy));
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  return answer("cudaMemsetAsync", Needs::context, [&](Machine& machine, auto&) {
    Stream& stream = stream_of(machine, handle);
    if (bytes == 0) return;
    require(on_device(machine, to, bytes), cudaErrorInvalidValue);
    launch(machine, stream, {"fill"}, [=] {
      std::memset(to, value, bytes);
      return true;
    });
  });
}

}  // extern "C"
