// A tensor of a case in guarded memory, written and read as logical values.
#pragma once

#include <vector>

#include "guarded_buffer.h"
#include "tensor/layout.h"

namespace trainyard::op_tests {

/// Values of a tensor in double, row-major n, c, h, w whatever its layout and type.
using Values = std::vector<double>;

class TestTensor {
 public:
  TestTensor(const Layout& layout, DType type);

  [[nodiscard]] TensorView view() const { return {buffer_.data(), type_, layout_}; }
  /// The layout without memory: an unused input gradient or an unread tensor.
  [[nodiscard]] TensorView absent() const { return {nullptr, type_, layout_}; }
  /// Writes values, and zeros to the padding.
  void write(const Values& values);
  /// One element, for differences.
  void write_element(std::size_t index, double value);
  [[nodiscard]] Values read() const;
  [[nodiscard]] bool padding_is_zero() const;
  /// The memory between the elements of a slice; empty for other layouts.
  [[nodiscard]] Bytes gaps() const;
  GuardedBuffer& buffer() { return buffer_; }
  [[nodiscard]] const GuardedBuffer& buffer() const { return buffer_; }

 private:
  [[nodiscard]] std::int64_t offset_of(std::size_t index) const;
  template <class F>
  void each_row(const F& f) const;
  template <class F>
  void with_elements(const F& f) const;

  Layout layout_;
  DType type_;
  GuardedBuffer buffer_;
};

}  // namespace trainyard::op_tests
