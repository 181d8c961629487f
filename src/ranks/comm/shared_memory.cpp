#include "ranks/comm/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/filesystem.h"
#include "base/text.h"

namespace trainyard {
namespace {

// The size is fixed: a file that became shorter would end its readers with a signal.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void fail_sharing(const std::string& what, const std::string& reason) {
  throw device_error(what + " failed: " + reason);
}

using SteadyClock = std::chrono::steady_clock;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex");

// A sleeping core may take milliseconds to wake up, far longer than the sum it waits for, and ranks
// arrive within a fraction of a step. While spinning, a rank yields its core to any other thread.
constexpr Milliseconds kAwake(20);
// How soon a sleeping rank sees that the process of the one it waits for has ended.
constexpr Milliseconds kLook(50);

/// More ranks than cores would take the cores from those that are waited for.
Milliseconds time_awake(std::size_t ranks) {
  return ranks <= std::thread::hardware_concurrency() ? kAwake : Milliseconds(0);
}

/// For waits across processes. Returns false once the time has passed.
bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds time) {
  const timespec limit{.tv_sec = time.count() / 1'000'000'000,
                       .tv_nsec = time.count() % 1'000'000'000};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// A segment of NCCL 2.28 with its default buffers, as its messages name it; a rank makes one for
// each channel (at least 2) of its ring and of its tree.
constexpr std::size_t kSegmentBytes = 9'637'888, kSegmentsOfRank = 4;

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : file_({::memfd_create("trainyard ranks", MFD_CLOEXEC | MFD_ALLOW_SEALING)}), bytes_(bytes) {
  if (!file_ || ::ftruncate(file_.get().value, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file_.get().value, F_ADD_SEALS, kSeals) != 0) {
    fail_sharing("making shared memory of " + std::to_string(bytes) + " bytes",
                 std::strerror(errno));
  }
  map();
}

SharedMemory::SharedMemory(const SharedMemoryName& name, std::size_t bytes) : bytes_(bytes) {
  const std::string path =
      "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
  file_ = Descriptor({::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)});
  if (!file_) fail_sharing("opening the shared memory " + path, std::strerror(errno));
  struct stat found {};
  if (::fcntl(file_.get().value, F_GET_SEALS) != kSeals ||
      ::fstat(file_.get().value, &found) != 0 || static_cast<std::size_t>(found.st_size) != bytes) {
    fail_sharing("opening the shared memory " + path,
                 "it is not the memory of " + std::to_string(bytes) +
                     " bytes that it should be; do all ranks run the same program?");
  }
  map();
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void SharedMemory::map() {
  void* const mapped =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get().value, 0);
  if (mapped == MAP_FAILED) fail_sharing("mapping shared memory", std::strerror(errno));
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemoryName SharedMemory::name() const { return {::getpid(), file_.get().value}; }

std::string own_machine() {
  std::string machine;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine);
  for (const char* const part : {"/proc/self/ns/pid", "/proc/self/ns/net"}) {
    std::error_code failed;
    const fs::path name = fs::read_symlink(part, failed);
    if (failed || machine.empty()) return {};
    machine += " " + name.string();
  }
  return machine;
}

SharedBarrier::SharedBarrier(BarrierGate& gate, std::span<BarrierSlot> slots, int rank,
                             std::span<const pid_t> processes)
    : gate_(gate), slots_(slots), rank_(rank), awake_(time_awake(slots.size())) {
  for (const pid_t process : processes) {
    processes_.emplace_back(FileNumber{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))});
    if (!processes_.back()) {
      throw device_error("watching process " + std::to_string(process) +
                         " failed: " + std::strerror(errno));
    }
    ends_.push_back({.fd = processes_.back().get().value, .events = POLLIN, .revents = 0});
  }
  new (&slot(rank)) BarrierSlot;
}

void SharedBarrier::arrive() {
  slot(rank_).arrived.store(++arrived_, std::memory_order_release);
  // Nobody arrives again before all have.
  const std::uint64_t all = gate_.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (all % slots_.size() == 0) open();
}

void SharedBarrier::leave() {
  slot(rank_).gone.store(true, std::memory_order_release);
  open();
}

void SharedBarrier::open() {
  gate_.openings.fetch_add(1, std::memory_order_release);
  wake_all(gate_.openings);
}

bool SharedBarrier::has_come(int rank) const {
  return slot(rank).arrived.load(std::memory_order_acquire) >= arrived_;
}

int SharedBarrier::missing() const {
  int rank = 0;
  while (rank < static_cast<int>(slots_.size()) && has_come(rank)) ++rank;
  return rank;
}

std::optional<SharedBarrier::Absence> SharedBarrier::absence_of(int rank) const {
  const bool left = slot(rank).gone.load(std::memory_order_acquire);
  const bool ended = ends_[static_cast<std::size_t>(rank)].revents != 0;
  // It may have arrived before it left.
  if ((!left && !ended) || has_come(rank)) return std::nullopt;
  return left ? Absence::left : Absence::ended;
}

std::optional<SharedBarrier::Absent> SharedBarrier::await_all(Moment deadline) {
  const Moment begin = SteadyClock::now();
  while (true) {
    const std::uint32_t openings = gate_.openings.load(std::memory_order_acquire);
    const int rank = missing();
    if (rank == static_cast<int>(slots_.size())) return std::nullopt;
    if (const auto why = absence_of(rank)) return Absent{rank, *why};
    const Moment now = SteadyClock::now();
    if (now >= deadline) return Absent{rank, Absence::late};
    now - begin < awake_ ? std::this_thread::yield() : sleep(openings, rank, deadline);
  }
}

void SharedBarrier::sleep(std::uint32_t openings, int rank, Moment deadline) {
  const auto left = std::max(deadline - SteadyClock::now(), Moment::duration::zero());
  if (wait_on(gate_.openings, openings, std::min<Moment::duration>(left, kLook))) return;
  ::poll(&ends_[static_cast<std::size_t>(rank)], 1, 0);
}

std::string shared_memory_warning(const NcclHost& host) {
  if (host.ranks < 2 || host.direct || !host.shared_bytes) return "";
  const std::size_t needed = static_cast<std::size_t>(host.ranks) * kSegmentsOfRank * kSegmentBytes;
  if (*host.shared_bytes >= needed) return "";
  return "NCCL goes through /dev/shm if GPUs cannot read each other's memory (P2P), which may be "
         "the case on this machine; it has " +
         memory_text(*host.shared_bytes) + " free; " + std::to_string(host.ranks) +
         " ranks need about " + memory_text(needed) +
         ": if NCCL fails, start the container with --shm-size=1g";
}

std::optional<std::size_t> free_shared_bytes() {
  std::error_code problem;
  const auto space = fs::space("/dev/shm", problem);
  if (problem) return std::nullopt;
  return static_cast<std::size_t>(space.available);
}

}  // namespace trainyard
