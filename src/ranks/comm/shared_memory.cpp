#include "ranks/comm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"

namespace trainyard {
namespace {

// The size is fixed: a file that became shorter would end its readers with a signal.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void fail_sharing(const std::string& what, const std::string& reason) {
  throw Error(ErrorKind::device, what + " failed: " + reason);
}

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
    const std::filesystem::path name = std::filesystem::read_symlink(part, failed);
    if (failed || machine.empty()) return {};
    machine += " " + name.string();
  }
  return machine;
}

}  // namespace trainyard
