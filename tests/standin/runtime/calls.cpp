#include "calls.h"

#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "control.h"
#include "faults.h"
#include "kinds.h"
#include "usage.h"

namespace standin {
namespace {

/// Throws Refused for the failure requested for a call, which may break the device.
void meet_requests(Machine& machine, const char* call) {
  const int ordinal = current_device();
  const std::string_view failure = requested_failure(call, ordinal);
  if (failure.empty()) return;
  const cudaError_t error = error_named(failure);
  if (is_sticky(error)) {
    machine.break_device(machine.devices()[static_cast<std::size_t>(ordinal)], error);
  }
  throw Refused(error);
}

/// Throws Refused if the compute mode forbids this process to use the device.
void make_context(Machine& machine, Device& device) {
  meet_requests(machine, "context");
  const int mode = compute_mode();
  const bool others = Usage::get().is_used_by_others(device.installed);
  require(mode != cudaComputeModeProhibited, cudaErrorDevicesUnavailable);
  require(mode == cudaComputeModeDefault || !others, cudaErrorDevicesUnavailable);
  require(Machine::free_bytes(device) >= kContextBytes, cudaErrorMemoryAllocation);
  device.used = true;
  Machine::tell_usage(device);
}

/// By name, guarded by the machine's lock.
std::map<std::string, std::uint64_t, std::less<>>& counts() {
  static auto& all =
      *std::make_unique<std::map<std::string, std::uint64_t, std::less<>>>().release();
  return all;
}

}  // namespace

void count_call(const char* call) { ++counts()[call]; }

std::uint64_t calls_made(std::string_view name) {
  const Machine::Lock lock = Machine::get().lock();
  const auto found = counts().find(name);
  return found == counts().end() ? 0 : found->second;
}

void enter(Machine& machine, const char* call, Needs needs) {
  static const pid_t process = getpid();
  require(getpid() == process, cudaErrorInitializationError);
  require(driver_version() / 1000 >= CUDART_VERSION / 1000, cudaErrorInsufficientDriver);
  meet_requests(machine, call);
  require(!machine.devices().empty(), cudaErrorNoDevice);
  if (needs == Needs::driver) return;
  Device& device = machine.devices()[static_cast<std::size_t>(current_device())];
  if (!device.used) make_context(machine, device);
  require(!Machine::is_broken(device), device.broken);
}

Stream& stream_of(Machine& machine, cudaStream_t handle) {
  Stream* const stream = machine.find(handle);
  require(stream != nullptr, cudaErrorInvalidResourceHandle);
  const Device& device = machine.device_of(*stream);
  require(!Machine::is_broken(device), device.broken);
  return *stream;
}

void launch(Machine& machine, Stream& stream, const Task& task, Work work, Launched launched) {
  if (&stream == &machine.device_of(stream).legacy) require_free_legacy(machine, stream.device);
  if (stream.capturing.capture != nullptr) {
    add_node(stream.capturing, task, std::move(work), std::move(launched));
    return;
  }
  if (launched) launched();
  machine.put(stream, {.what = task.what, .work = std::move(work)});
}

namespace {

cudaError_t enqueue(cudaStream_t handle, const Task& task, Work work, Launched launched) {
  try {
    Machine& machine = Machine::get();
    const Machine::Lock lock = machine.lock();
    Stream& stream = stream_of(machine, handle);
    for (const char* call : {task.what, "launch"}) {
      const std::string_view failure = requested_failure(call, stream.device);
      if (!failure.empty()) throw Refused(error_named(failure));
    }
    launch(machine, stream, task, std::move(work), std::move(launched));
    return cudaSuccess;
  } catch (const Refused& refused) {
    return answered(refused.error);
  }
}

}  // namespace

cudaError_t enqueue(cudaStream_t handle, const char* what, Work work, Launched launched) {
  return enqueue(handle, Task{what}, std::move(work), std::move(launched));
}

cudaError_t launch_kernel(const Kernel& kernel, Work work) {
  constexpr std::int64_t kMostBlocks = 0x7fffffff, kMostThreads = 1024;
  if (kernel.blocks < 1 || kernel.blocks > kMostBlocks || kernel.threads < 1 ||
      kernel.threads > kMostThreads) {
    return answered(cudaErrorInvalidConfiguration);
  }
  const int device = device_of(kernel.stream);
  if (device != current_device()) return answered(cudaErrorInvalidResourceHandle);
  const Task task{kernel.form, kernel.functor, kernel.overlaps};
  return enqueue(kernel.stream, task, std::move(work), {});
}

cudaError_t is_capturing(cudaStream_t handle, bool& capturing) {
  try {
    Machine& machine = Machine::get();
    const Machine::Lock lock = machine.lock();
    const Stream& stream = stream_of(machine, handle);
    if (&stream == &machine.device_of(stream).legacy) require_free_legacy(machine, stream.device);
    capturing = stream.capturing.capture != nullptr;
    if (capturing) require_valid(*stream.capturing.capture);
    return cudaSuccess;
  } catch (const Refused& refused) {
    return answered(refused.error);
  }
}

bool is_device_memory(const void* memory, std::size_t bytes) {
  Machine& machine = Machine::get();
  const Machine::Lock lock = machine.lock();
  for (const Device& device : machine.devices()) {
    if (device.memory.holds(memory, bytes)) return true;
  }
  return false;
}

int device_of(cudaStream_t handle) {
  Machine& machine = Machine::get();
  const Machine::Lock lock = machine.lock();
  const Stream* const stream = machine.find(handle);
  return stream == nullptr ? -1 : stream->device;
}

void break_device(int ordinal, cudaError_t error) {
  Machine& machine = Machine::get();
  const Machine::Lock lock = machine.lock();
  machine.break_device(machine.devices().at(static_cast<std::size_t>(ordinal)), error);
}

}  // namespace standin
