// The machine that the runtime emulates: devices, their streams, and the one thread that executes
// them.
//
// Work is done as late as events allow: a stream advances only as far as the host waits for it, or
// another stream that waits for one of its events; and all streams do once the host has enqueued
// nothing for a moment, since another process may wait for this one's work.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "capture.h"
#include "kinds.h"
#include "memory.h"
#include "stream.h"

namespace standin {

struct Stream;

/// A point in a stream's order: of an event, or one that the host waits for.
struct Mark {
  Stream* stream = nullptr;  // while it is not reached
  int device = 0;
  std::uint64_t place = 0;  // reached when this many pieces before it are done
  bool reached = false;
  std::chrono::steady_clock::time_point time = {};
};

/// A piece of a stream: work, or a mark to wait for, or a mark to reach.
struct Piece {
  const char* what = "";
  Work work = {};
  std::shared_ptr<Mark> awaited = nullptr;
  std::shared_ptr<Mark> own = nullptr;
  bool begun = false;  // true from the start for a graph's launch, whose nodes count as pieces
};

struct Stream {
  int device = 0;
  bool blocking = true;  // ordered with the legacy stream
  int priority = 0;      // kMostUrgent (less is more) to 0
  bool destroyed = false;
  std::deque<Piece> pieces = {};
  std::uint64_t done = 0;    // pieces that are no longer in `pieces`
  std::uint64_t wanted = 0;  // pieces requested by now, counted from the first
  Capturing capturing = {};

  [[nodiscard]] std::uint64_t put() const { return done + pieces.size(); }
};

struct Device {
  explicit Device(int place)
      : installed(place),
        gpu(installed_gpus()[static_cast<std::size_t>(place)]),
        memory(gpu.bytes) {}
  int installed;  // its index on the bus
  Gpu gpu;
  DeviceMemory memory;
  Stream legacy = {};
  bool used = false;                              // this process has a context on it
  std::atomic<cudaError_t> broken = cudaSuccess;  // its error, returned forever
};

/// The greatest priority of a stream, as GPUs since Volta have it.
inline constexpr int kMostUrgent = -5;

/// Memory that a context takes on its device, about as much as CUDA's.
inline constexpr std::size_t kContextBytes = std::size_t{400} << 20;

class Machine {
 public:
  using Lock = std::unique_lock<std::mutex>;

  /// The one of this process.
  static Machine& get();
  Machine();
  /// Stops the device's thread: the program ends.
  void end();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] Lock lock() { return Lock(mutex_); }
  /// The error of this thread's broken device; success if it is not broken.
  [[nodiscard]] cudaError_t broken_now();

  // Everything below requires the lock.

  [[nodiscard]] std::deque<Device>& devices() { return devices_; }
  [[nodiscard]] PinnedMemory& pinned() { return pinned_; }
  [[nodiscard]] std::vector<std::shared_ptr<Capture>>& captures() { return captures_; }
  /// Null for an invalid handle. The legacy stream is that of this thread's device.
  [[nodiscard]] Stream* find(cudaStream_t handle);
  [[nodiscard]] Stream& make_stream(int device, bool blocking);
  /// Its work is still done.
  void destroy(Stream& stream);
  [[nodiscard]] Device& device_of(const Stream& stream);

  /// After the stream's contents, and those of streams it is ordered with.
  void put(Stream& stream, Piece piece);
  /// A mark after the contents of `stream`.
  [[nodiscard]] std::shared_ptr<Mark> mark(Stream& stream);
  /// Returns when the mark is reached. Throws Refused if its device is broken.
  void wait(Lock& lock, const Mark& mark);
  /// Returns when all work of the device is done.
  void wait_for_device(Lock& lock, Device& device);
  void set_idle(std::chrono::milliseconds idle) { idle_ = idle; }
  /// Tells other processes how much of the device this one uses.
  static void tell_usage(const Device& device);
  /// Over all processes.
  [[nodiscard]] static std::size_t free_bytes(const Device& device);
  /// Drops the contents of its streams.
  void break_device(Device& device, cudaError_t error);

  // These two are for the device's thread, without the lock.

  /// Counts a piece of work that is about to start; false if its device is broken.
  [[nodiscard]] bool begins(Device& device);
  [[nodiscard]] static bool is_broken(const Device& device) { return device.broken != cudaSuccess; }

 private:
  void run();
  [[nodiscard]] bool pass(Lock& lock);
  [[nodiscard]] bool advance(Lock& lock, Stream& stream);
  [[nodiscard]] bool call(Lock& lock, Stream& stream, Piece& piece);
  void finish(Lock& lock, Stream& stream);
  void drop(Lock& lock, Stream& stream);
  void rest(Lock& lock);
  [[nodiscard]] std::vector<Stream*> streams();
  [[nodiscard]] std::vector<Stream*> ordered_with(const Stream& stream);
  void push(Stream& stream, Piece piece);
  static bool want(const Mark& mark);
  void want_all();
  void reach(Piece& piece);
  void open_memory(bool whether);

  std::mutex mutex_;
  std::condition_variable wake_;     // the device's thread
  std::condition_variable arrived_;  // hosts that wait
  std::deque<Device> devices_;
  PinnedMemory pinned_;
  std::list<Stream> streams_;
  std::vector<std::shared_ptr<Capture>> captures_;
  std::chrono::steady_clock::time_point last_put_ = {};
  std::chrono::milliseconds idle_{1};
  bool stuck_ = false;    // work was called that could not continue
  bool open_ = false;     // the memory
  bool resting_ = false;  // there is nothing to do
  bool ending_ = false;   // the program is
  std::thread thread_;
};

/// This thread's device.
[[nodiscard]] int& current_device();

}  // namespace standin
