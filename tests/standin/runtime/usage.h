// Use of the machine's GPUs by all processes, as known to a driver: a shared file (STANDIN_STATE).
// Without it, each process knows only its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace standin {

inline constexpr int kMostProcesses = 64, kMostGpus = 16;

/// One process. Its numbers count while it lives.
struct Share {
  std::atomic<std::int32_t> process;  // 0: free
  std::atomic<std::uint64_t> bytes[kMostGpus];
  std::atomic<std::uint64_t> busy_nanoseconds[kMostGpus];
};

class Usage {
 public:
  /// Usage by this process and, through the file, all others.
  static Usage& get();
  explicit Usage(const char* file);
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  /// Sets the use by this process; GPUs are numbered as installed.
  void set_bytes(int gpu, std::size_t bytes);
  void add_busy(int gpu, std::chrono::nanoseconds time);
  /// This process no longer uses anything.
  void leave();

  /// Bytes in use by all living processes.
  [[nodiscard]] std::size_t bytes(int gpu) const;
  [[nodiscard]] std::chrono::nanoseconds busy(int gpu) const;
  /// Whether another process uses it.
  [[nodiscard]] bool is_used_by_others(int gpu) const;

 private:
  [[nodiscard]] Share& own();

  Share* shares_;
  std::atomic<Share*> own_ = nullptr;
};

}  // namespace standin
