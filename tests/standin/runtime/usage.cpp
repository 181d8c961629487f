#include "usage.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace standin {
namespace {

static_assert(std::is_trivially_destructible_v<Usage>);

constexpr std::size_t kBytes = sizeof(Share) * kMostProcesses;

[[noreturn]] void misused_state(const char* file) {
  std::fprintf(stderr, "stand-in of CUDA: STANDIN_STATE='%s' cannot be shared\n", file);
  std::abort();
}

/// Zeroed if it is new. A process that is left when the file is gone has its own.
Share* mapped(const char* file) {
  const int descriptor = file == nullptr ? -1 : open(file, O_RDWR | O_CLOEXEC);
  const int kind = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(kBytes)) != 0)
    misused_state(file);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, kind, descriptor, 0);
  if (memory == MAP_FAILED) misused_state(file == nullptr ? "" : file);
  if (descriptor >= 0) close(descriptor);
  return static_cast<Share*>(memory);
}

bool is_alive(std::int32_t process) {
  return process != 0 && (kill(process, 0) == 0 || errno != ESRCH);
}

}  // namespace

Usage& Usage::get() {
  static Usage usage(std::getenv("STANDIN_STATE"));  // never destroyed: threads may still run
  return usage;
}

Usage::Usage(const char* file) : shares_(mapped(file)) {}

Share& Usage::own() {
  if (Share* const share = own_) return *share;
  for (int i = 0; i < kMostProcesses; ++i) {
    std::int32_t before = shares_[i].process;
    if (is_alive(before)) continue;
    if (!shares_[i].process.compare_exchange_strong(before, getpid())) continue;
    for (int gpu = 0; gpu < kMostGpus; ++gpu) {
      shares_[i].bytes[gpu] = shares_[i].busy_nanoseconds[gpu] = 0;
    }
    own_ = &shares_[i];
    return shares_[i];
  }
  misused_state("more than 64 processes");
}

void Usage::set_bytes(int gpu, std::size_t bytes) { own().bytes[gpu] = bytes; }

void Usage::add_busy(int gpu, std::chrono::nanoseconds time) {
  own().busy_nanoseconds[gpu] += static_cast<std::uint64_t>(time.count());
}

void Usage::leave() {
  if (Share* const share = own_.exchange(nullptr)) share->process = 0;
}

std::size_t Usage::bytes(int gpu) const {
  std::size_t sum = 0;
  for (int i = 0; i < kMostProcesses; ++i) {
    if (is_alive(shares_[i].process)) sum += shares_[i].bytes[gpu];
  }
  return sum;
}

std::chrono::nanoseconds Usage::busy(int gpu) const {
  std::uint64_t sum = 0;
  for (int i = 0; i < kMostProcesses; ++i) {
    if (is_alive(shares_[i].process)) sum += shares_[i].busy_nanoseconds[gpu];
  }
  return std::chrono::nanoseconds(sum);
}

bool Usage::is_used_by_others(int gpu) const {
  for (int i = 0; i < kMostProcesses; ++i) {
    const std::int32_t process = shares_[i].process;
    if (process != getpid() && is_alive(process) && shares_[i].bytes[gpu] > 0) return true;
  }
  return false;
}

}  // namespace standin
