// Memory of the devices, closed to the host, and pinned memory of the host.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace standin {

/// The memory of one device: addresses of its own, of which nothing can be read or written but
/// while the device works. The machine's lock guards it.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : total_(bytes) {}

  /// Null if no room is left. Holds bytes of 0xff, which are NaN in each floating-point type.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// False for what is no block.
  [[nodiscard]] bool free(void* memory);
  [[nodiscard]] bool holds(const void* memory, std::size_t bytes) const;
  [[nodiscard]] std::size_t used() const { return used_; }
  /// Lets this process read and write it, or not.
  void open(bool whether);

 private:
  void reserve();
  [[nodiscard]] std::size_t place_for(std::size_t bytes) const;
  void protect(std::size_t begin, std::size_t end, bool accessible);

  std::size_t total_;
  std::size_t used_ = 0;
  std::size_t top_ = 0;  // end of the last block that ever was
  bool open_ = false;
  std::byte* base_ = nullptr;
  std::map<std::size_t, std::size_t> blocks_;  // bytes asked for, by their place from base_
};

/// Host memory that devices read and write directly.
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
