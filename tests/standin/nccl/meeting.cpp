#include "meeting.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "failure.h"

namespace standin::nccl {
namespace {

constexpr std::uint64_t kMark = 0x7461626c65203031;

/// The contents of an id: the owner of the table's file.
struct Invitation {
  std::uint64_t mark;
  std::int32_t process, descriptor;
  std::uint64_t number;  // makes ids unique even if a descriptor is reused
};
static_assert(sizeof(Invitation) <= NCCL_UNIQUE_ID_BYTES);

[[noreturn]] void refuse(const std::string& what) {
  throw Failure(ncclSystemError, what + ": " + std::strerror(errno));
}

Table* map(int file) {
  void* const memory =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) refuse("Error while attaching to shared memory segment");
  return static_cast<Table*>(memory);
}

}  // namespace

ncclUniqueId Meeting::arrange() {
  static std::atomic<std::uint64_t> number{0};
  const int file = memfd_create("stand-in NCCL", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, sizeof(Table)) != 0) {
    refuse("Error while creating shared memory segment");
  }
  Table* const table = map(file);
  table->mark = kMark;
  munmap(table, sizeof(Table));
  const Invitation invitation{kMark, getpid(), file, ++number};
  ncclUniqueId id{};
  std::memcpy(id.internal, &invitation, sizeof invitation);
  return id;
}

Meeting::Meeting(const ncclUniqueId& id) {
  Invitation invitation{};
  std::memcpy(&invitation, id.internal, sizeof invitation);
  const std::string path = "/proc/" + std::to_string(invitation.process) + "/fd/" +
                           std::to_string(invitation.descriptor);
  const int file = invitation.mark == kMark ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) refuse("the process that made the group's id cannot be reached");
  table_ = map(file);
  close(file);
  if (table_->mark != kMark) {
    munmap(table_, sizeof(Table));
    errno = ENOENT;
    refuse("the process that made the group's id cannot be reached");
  }
}

Meeting::~Meeting() { munmap(table_, sizeof(Table)); }

std::uint64_t host_hash() {
  // Read once per process (utils.cc of NCCL 2.28.9, getHostHashOnce).
  static const std::uint64_t hash = [] {
    if (const char* const given = std::getenv("NCCL_HOSTID")) {
      return std::hash<std::string>{}(given);
    }
    char name[HOST_NAME_MAX + 1] = {};
    gethostname(name, sizeof name - 1);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return std::hash<std::string>{}(name + boot);
  }();
  return hash;
}

std::uint64_t bus_of_device(int device) {
  char text[32] = {};
  require_cuda(cudaDeviceGetPCIBusId(text, sizeof text, device));
  std::string digits;
  for (const char c : std::string(text)) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  }
  return std::strtoull(digits.c_str(), nullptr, 16);
}

}  // namespace standin::nccl
