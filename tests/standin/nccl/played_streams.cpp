#include "played_streams.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "faults.h"

namespace standin::played {

Machine& Machine::get() {
  static Machine machine;
  return machine;
}

void Machine::reset() {
  const std::lock_guard lock(mutex);
  streams.clear();
  memory.clear();
  broken.clear();
  refusal = cudaSuccess;
  wished.clear();
  current_device() = 0;
}

Stream& Machine::make_stream(int device) {
  const std::lock_guard lock(mutex);
  return streams.emplace_back(Stream{.device = device});
}

void Machine::begin_capture(Stream& stream) {
  const std::lock_guard lock(mutex);
  stream.recording = std::make_shared<Graph>();
}

std::shared_ptr<Graph> Machine::end_capture(Stream& stream) {
  const std::lock_guard lock(mutex);
  return std::exchange(stream.recording, nullptr);
}

void Machine::launch(const Graph& graph, Stream& stream) {
  const std::lock_guard lock(mutex);
  for (const Node& node : graph) {
    node.launched();
    stream.works.push_back(node.work);
  }
}

void Machine::add_memory(const void* begin, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  memory[begin] = bytes;
}

bool Machine::move_on() {
  // Unfinished work may have advanced by a piece that another waits for; none needs this many
  // rounds.
  constexpr int kFruitlessRounds = 100;
  const std::lock_guard lock(mutex);
  for (int fruitless = 0; fruitless < kFruitlessRounds; ++fruitless) {
    for (Stream& stream : streams) {
      // break_device() may empty the stream while its work runs.
      const Work work = stream.works.empty() ? Work() : stream.works.front();
      if (!work || !work()) continue;
      stream.works.pop_front();
      fruitless = 0;
    }
  }
  return std::ranges::all_of(streams, [](const Stream& stream) { return stream.works.empty(); });
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

namespace {

Stream& stream_of(cudaStream_t handle) { return *reinterpret_cast<Stream*>(handle); }

}  // namespace
}  // namespace standin::played

namespace standin {

using played::Machine;

cudaError_t enqueue(cudaStream_t handle, const char*, Work work, Launched launched) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  if (machine.refusal != cudaSuccess) return machine.refusal;
  played::Stream& stream = played::stream_of(handle);
  if (stream.recording != nullptr) {
    stream.recording->push_back({std::move(work), std::move(launched)});
    return cudaSuccess;
  }
  launched();
  stream.works.push_back(std::move(work));
  return cudaSuccess;
}

cudaError_t is_capturing(cudaStream_t handle, bool& capturing) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  capturing = played::stream_of(handle).recording != nullptr;
  return cudaSuccess;
}

bool is_device_memory(const void* memory, std::size_t bytes) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  const auto* const begin = static_cast<const std::byte*>(memory);
  return std::ranges::any_of(machine.memory, [&](const auto& block) {
    const auto* const first = static_cast<const std::byte*>(block.first);
    return begin >= first && begin + bytes <= first + block.second;
  });
}

int device_of(cudaStream_t stream) { return played::stream_of(stream).device; }

void break_device(int device, cudaError_t error) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  machine.broken[device] = error;
  for (played::Stream& stream : machine.streams) {
    if (stream.device == device) stream.works.clear();
  }
}

std::string_view requested_failure(std::string_view call, int) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.mutex);
  const auto found = machine.wished.find(std::string(call));
  return found == machine.wished.end() ? std::string_view() : found->second;
}

}  // namespace standin

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = standin::played::current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  standin::played::current_device() = device;
  return cudaSuccess;
}

cudaError_t cudaFree(void*) {
  auto& machine = standin::played::Machine::get();
  const std::lock_guard lock(machine.mutex);
  const auto found = machine.broken.find(standin::played::current_device());
  return found == machine.broken.end() ? cudaSuccess : found->second;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%02x:00.0", device + 1);
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
                                          : "operation failed due to a previous error";
}

}  // extern "C"
