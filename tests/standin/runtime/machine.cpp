#include "machine.h"

#include <algorithm>
#include <utility>

#include "control.h"
#include "errors.h"
#include "faults.h"
#include "usage.h"

namespace standin {
namespace {

using Clock = std::chrono::steady_clock;

// How long work that waits for another process is left alone.
constexpr std::chrono::microseconds kNap{100};

/// Stops the machine when the program ends. The machine itself remains: other threads may still
/// call it.
struct AtEnd {
  Machine& machine;
  ~AtEnd() { machine.end(); }
};

}  // namespace

int& current_device() {
  thread_local int device = 0;
  return device;
}

Machine& Machine::get() {
  static Machine& machine = *std::make_unique<Machine>().release();
  static const AtEnd at_end{machine};
  return machine;
}

Machine::Machine() {
  for (const int installed : visible_gpus()) {
    Device& device = devices_.emplace_back(installed);
    device.legacy.device = static_cast<int>(devices_.size()) - 1;
  }
}

void Machine::end() {
  {
    const Lock guard = lock();
    ending_ = true;
    wake_.notify_all();
    arrived_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  Usage::get().leave();
}

cudaError_t Machine::broken_now() {
  const auto device = static_cast<std::size_t>(current_device());
  return device < devices_.size() ? devices_[device].broken.load() : cudaSuccess;
}

std::vector<Stream*> Machine::streams() {
  std::vector<Stream*> all;
  for (Device& device : devices_) all.push_back(&device.legacy);
  for (Stream& stream : streams_) all.push_back(&stream);
  return all;
}

Device& Machine::device_of(const Stream& stream) {
  return devices_[static_cast<std::size_t>(stream.device)];
}

Stream* Machine::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    const auto device = static_cast<std::size_t>(current_device());
    return device < devices_.size() ? &devices_[device].legacy : nullptr;
  }
  for (Stream& stream : streams_) {
    if (static_cast<void*>(&stream) == handle && !stream.destroyed) return &stream;
  }
  return nullptr;
}

Stream& Machine::make_stream(int device, bool blocking) {
  Stream& stream = streams_.emplace_back();
  stream.device = device;
  stream.blocking = blocking;
  return stream;
}

void Machine::destroy(Stream& stream) { stream.destroyed = true; }

/// The legacy stream waits for all blocking streams of its device, and they for it.
std::vector<Stream*> Machine::ordered_with(const Stream& stream) {
  if (!stream.blocking) return {};
  Stream& legacy = device_of(stream).legacy;
  if (&stream != &legacy) return {&legacy};
  std::vector<Stream*> others;
  for (Stream& other : streams_) {
    if (other.blocking && other.device == stream.device) others.push_back(&other);
  }
  return others;
}

void Machine::push(Stream& stream, Piece piece) {
  stream.pieces.push_back(std::move(piece));
  last_put_ = Clock::now();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  if (resting_) wake_.notify_one();
}

void Machine::put(Stream& stream, Piece piece) {
  for (Stream* other : ordered_with(stream)) {
    if (!other->pieces.empty()) push(stream, {.awaited = mark(*other)});
  }
  push(stream, std::move(piece));
}

std::shared_ptr<Mark> Machine::mark(Stream& stream) {
  auto mark = std::make_shared<Mark>(
      Mark{.stream = &stream, .device = stream.device, .place = stream.put()});
  push(stream, {.own = mark});
  return mark;
}

bool Machine::want(const Mark& mark) {
  if (mark.reached || mark.stream->wanted > mark.place) return false;
  mark.stream->wanted = mark.place + 1;
  return true;
}

void Machine::want_all() {
  for (Stream* stream : streams()) stream->wanted = stream->put();
}

void Machine::wait(Lock& lock, const Mark& mark) {
  Device& device = devices_[static_cast<std::size_t>(mark.device)];
  if (want(mark)) wake_.notify_one();
  arrived_.wait(lock, [&] { return mark.reached || is_broken(device) || ending_; });
  if (is_broken(device)) throw Refused(device.broken);
  if (!mark.reached) throw Refused(cudaErrorCudartUnloading);
}

void Machine::wait_for_device(Lock& lock, Device& device) {
  std::vector<std::shared_ptr<Mark>> ends;
  for (Stream* stream : streams()) {
    if (&device_of(*stream) == &device && !stream->pieces.empty()) ends.push_back(mark(*stream));
  }
  for (const auto& end : ends) wait(lock, *end);
}

void Machine::tell_usage(const Device& device) {
  Usage::get().set_bytes(device.installed,
                         device.memory.used() + (device.used ? kContextBytes : 0));
}

std::size_t Machine::free_bytes(const Device& device) {
  const std::size_t used = Usage::get().bytes(device.installed);
  return used < device.gpu.bytes ? device.gpu.bytes - used : 0;
}

void Machine::break_device(Device& device, cudaError_t error) {
  cudaError_t none = cudaSuccess;
  device.broken.compare_exchange_strong(none, error);
  wake_.notify_one();
  arrived_.notify_all();
}

bool Machine::begins(Device& device) {
  const std::string_view failure = requested_failure("execute", device.legacy.device);
  if (!failure.empty()) {
    const Lock guard = lock();
    break_device(device, error_named(failure));
  }
  return !is_broken(device);
}

void Machine::run() {
  Lock guard = lock();
  while (!ending_) {
    if (!pass(guard)) rest(guard);
  }
}

/// Runs each stream in turn, as far as it is requested. False if nothing could be done.
bool Machine::pass(Lock& lock) {
  bool moved = false;
  stuck_ = false;
  for (Stream* stream : streams()) {
    if (is_broken(device_of(*stream))) {
      drop(lock, *stream);
    } else {
      moved = advance(lock, *stream) || moved;
    }
    if (ending_) return false;
  }
  streams_.remove_if([](const Stream& one) { return one.destroyed && one.pieces.empty(); });
  return moved;
}

bool Machine::advance(Lock& lock, Stream& stream) {
  bool moved = false;
  while (stream.done < stream.wanted && !stream.pieces.empty() && !ending_) {
    Piece& piece = stream.pieces.front();
    if (piece.awaited != nullptr && !piece.awaited->reached) {
      return want(*piece.awaited) || moved;
    }
    if (piece.work && !call(lock, stream, piece)) {
      stuck_ = true;
      return moved;
    }
    finish(lock, stream);
    moved = true;
  }
  return moved;
}

/// True if the piece needs no further call.
bool Machine::call(Lock& lock, Stream& stream, Piece& piece) {
  open_memory(true);
  Device& device = device_of(stream);
  lock.unlock();
  const bool goes_on = std::exchange(piece.begun, true) ? !is_broken(device) : begins(device);
  const Clock::time_point begin = Clock::now();
  const bool done = !goes_on || piece.work();
  Usage::get().add_busy(device.installed, Clock::now() - begin);
  lock.lock();
  return done || is_broken(device);
}

void Machine::reach(Piece& piece) {
  if (piece.own == nullptr) return;
  piece.own->reached = true;
  piece.own->time = Clock::now();
  arrived_.notify_all();
}

void Machine::finish(Lock& lock, Stream& stream) {
  reach(stream.pieces.front());
  Work past = std::move(stream.pieces.front().work);
  stream.pieces.pop_front();
  ++stream.done;
  lock.unlock();
  past = {};  // its contents may take other locks
  lock.lock();
}

/// Drops the pieces of a broken device. Other devices' streams that wait for them continue.
void Machine::drop(Lock& lock, Stream& stream) {
  while (!stream.pieces.empty()) finish(lock, stream);
}

void Machine::rest(Lock& lock) {
  if (ending_) return;
  open_memory(false);
  const auto pending = streams();
  const bool nothing =
      std::ranges::all_of(pending, [](const Stream* one) { return one->pieces.empty(); });
  if (nothing) {
    resting_ = true;
    wake_.wait(lock);
    resting_ = false;
    return;
  }
  const auto until_idle = last_put_ + idle_ - Clock::now();
  wake_.wait_for(lock, stuck_ ? kNap : std::max<Clock::duration>(kNap, until_idle));
  if (Clock::now() >= last_put_ + idle_) want_all();
}

void set_idle(std::chrono::milliseconds idle) {
  Machine& machine = Machine::get();
  const Machine::Lock lock = machine.lock();
  machine.set_idle(idle);
}

void Machine::open_memory(bool whether) {
  if (open_ == whether) return;
  open_ = whether;
  for (Device& device : devices_) device.memory.open(whether);
}

}  // namespace standin
