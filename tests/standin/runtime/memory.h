// Device memory, inaccessible to the host, and pinned host memory.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace standin {

/// The memory of one device: its own addresses, which can be read or written only while the device
/// works. Guarded by the machine's lock.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : total_(bytes) {}

  /// Null if there is no space left. Filled with 0xff, which is NaN in each floating-point type.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// False if it is not a block.
  [[nodiscard]] bool free(void* memory);
  [[nodiscard]] bool holds(const void* memory, std::size_t bytes) const;
  [[nodiscard]] std::size_t used() const { return used_; }
  /// Makes it accessible to this process, or not.
  void open(bool whether);

 private:
  void reserve();
  [[nodiscard]] std::size_t place_for(std::size_t bytes) const;
  void protect(std::size_t begin, std::size_t end, bool accessible);

  std::size_t total_;
  std::size_t used_ = 0;
  std::size_t top_ = 0;  // end of the highest block so far
  bool open_ = false;
  std::byte* base_ = nullptr;
  std::map<std::size_t, std::size_t> blocks_;  // requested bytes, by their offset from base_
};

/// Host memory that devices access directly.
class PinnedMemory {
 public:
  /// Null if the host has none.
  [[nodiscard]] void* allocate(std::size_t bytes);
  [[nodiscard]] bool free(void* memory);
  [[nodiscard]] bool holds(const void* memory, std::size_t bytes) const;

 private:
  std::map<const std::byte*, std::size_t> blocks_;
};

}  // namespace standin
