// The machine that the runtime plays: devices, their streams, and the one thread that executes
// them.
//
// Work is done as late as events allow: a stream goes on only as far as the host waits for it, or
// as another stream does that waits for one of its events; and all of them once the host has put
// nothing on any for a moment, since another process may wait for this one's work.
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
  std::uint64_t place = 0;  // the stream reaches it when so many pieces before it are done
  bool reached = false;
  std::chrono::steady_clock::time_point time = {};
};

/// A piece of a stream: work, or a mark that it waits for, or one that it reaches.
struct Piece {
  const char* what = "";
  Work work = {};
  std::shared_ptr<Mark> awaited = nullptr;
  std::shared_ptr<Mark> own = nullptr;
  bool begun = false;  // a graph's launch begins as begun: its nodes count, each as a piece
};

struct Stream {
  int device = 0;
  bool blocking = true;  // ordered with the legacy stream
  bool destroyed = false;
  std::deque<Piece> pieces = {};
  std::uint64_t done = 0;    // pieces that are no longer in `pieces`
  std::uint64_t wanted = 0;  // pieces that are to be done now, counted from the first
  Capturing capturing = {};

  [[nodiscard]] std::uint64_t put() const { return done + pieces.size(); }
};

struct Device {
  explicit Device(int place)
      : installed(place),
        gpu(installed_gpus()[static_cast<std::size_t>(place)]),
        memory(gpu.bytes) {}
  int installed;  // its place on the bus
  Gpu gpu;
  DeviceMemory memory;
  Stream legacy = {};
  bool used = false;                              // this process has a context on it
  std::atomic<cudaError_t> broken = cudaSuccess;  // what it answers for ever
};

/// Memory that a context takes on its device, of the size that CUDA's do.
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
  /// What the current device of this thread answers for ever; success if nothing.
  [[nodiscard]] cudaError_t broken_now();

  // All below want the lock.

  [[nodiscard]] std::deque<Device>& devices() { return devices_; }
  [[nodiscard]] PinnedMemory& pinned() { return pinned_; }
  [[nodiscard]] std::vector<std::shared_ptr<Capture>>& captures() { return captures_; }
  /// Null for a handle that is no stream. The legacy stream is that of this thread's device.
  [[nodiscard]] Stream* find(cudaStream_t handle);
  [[nodiscard]] Stream& make_stream(int device, bool blocking);
  /// Its work is still done.
  void destroy(Stream& stream);
  [[nodiscard]] Device& device_of(const Stream& stream);

  /// Behind what the stream holds, and what it is ordered with.
  void put(Stream& stream, Piece piece);
  /// A mark behind all that `stream` holds.
  [[nodiscard]] std::shared_ptr<Mark> mark(Stream& stream);
  /// Returns when the mark is reached. Throws Refused if its device is broken.
  void wait(Lock& lock, const Mark& mark);
  /// Returns when all work of the device is done.
  void wait_for_device(Lock& lock, Device& device);
  void set_idle(std::chrono::milliseconds idle) { idle_ = idle; }
  /// Lets other processes know what this one uses of the device.
  static void tell_usage(const Device& device);
  /// Of all processes together.
  [[nodiscard]] static std::size_t free_bytes(const Device& device);
  /// What its streams hold is dropped.
  void break_device(Device& device, cudaError_t error);

  // These two are the device's thread's, without the lock.

  /// Counts a piece of work that is to begin; false if none begins on its device any more.
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
  bool stuck_ = false;    // work was called that could not go on
  bool open_ = false;     // the memory
  bool resting_ = false;  // nothing is to be done
  bool ending_ = false;   // the program is
  std::thread thread_;
};

/// This thread's device.
[[nodiscard]] int& current_device();

}  // namespace standin
