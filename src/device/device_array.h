// Elements in device memory.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "device/device.h"

namespace trainyard {

/// A fixed number of elements, copied as bytes. Not initialized.
template <class T>
class DeviceArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  DeviceArray(Device& device, std::size_t size)
      : size_(size), buffer_(device.allocate(std::max<std::size_t>(size, 1) * sizeof(T))) {}
  DeviceArray(Device& device, Queue& queue, std::span<const T> values)
      : DeviceArray(device, values.size()) {
    write(queue, values);
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(buffer_->data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }

  /// Copies the first values.size() elements; `values` may change once this returns.
  void write(Queue& queue, std::span<const T> values) {
    if (!values.empty()) queue.copy_from_host(data(), values.data(), values.size_bytes());
  }
  /// All elements, once all earlier work on `queue` is done.
  [[nodiscard]] std::vector<T> read(Queue& queue) const {
    std::vector<T> values(size_);
    read(queue, values);
    return values;
  }
  /// The same, into values.size() elements of the caller.
  void read(Queue& queue, std::span<T> values) const {
    if (!values.empty()) queue.copy_to_host(values.data(), data(), values.size_bytes());
    queue.wait();
  }

 private:
  std::size_t size_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

}  // namespace trainyard
