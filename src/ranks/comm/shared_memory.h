// Memory shared by processes of one machine.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/handle.h"

namespace trainyard {

/// Equal in processes that can share memory by process id and descriptor: same boot of the same
/// system, same process namespace and same network namespace (a separate container counts as a
/// separate machine). Empty if the system does not say.
[[nodiscard]] std::string own_machine();

/// The process that owns the memory, and its descriptor there.
struct SharedMemoryName {
  pid_t process = 0;
  int descriptor = -1;
};

/// Memory that other processes of this user can open while its creator holds it. It has no name in
/// a file system and takes nothing from /dev/shm, whose size containers limit: when the last
/// process has ended, in whatever way, nothing is left.
class SharedMemory {
 public:
  /// New memory, all zeros. Throws Error{device} if the system provides none.
  explicit SharedMemory(std::size_t bytes);
  /// Memory of another process, or of this one. Throws Error{device} unless it has this class and
  /// size.
  SharedMemory(const SharedMemoryName& name, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] SharedMemoryName name() const;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  void map();

  Descriptor file_;
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace trainyard
