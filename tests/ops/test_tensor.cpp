#include "test_tensor.h"

#include <algorithm>

#include "tensor/float_types.h"

namespace trainyard::op_tests {

TestTensor::TestTensor(const Layout& layout, DType type)
    : layout_(layout),
      type_(type),
      buffer_(static_cast<std::size_t>(span_elements(layout)) * size_of(type)) {}

std::int64_t TestTensor::offset_of(std::size_t index) const {
  std::int64_t rest = static_cast<std::int64_t>(index);
  const std::int64_t w = rest % layout_.extent[3];
  rest /= layout_.extent[3];
  const std::int64_t h = rest % layout_.extent[2];
  rest /= layout_.extent[2];
  return layout_.offset(rest / layout_.extent[1], rest % layout_.extent[1], h, w);
}

void TestTensor::store(std::int64_t offset, double value) {
  if (type_ == DType::i32) {
    reinterpret_cast<std::int32_t*>(buffer_.data())[offset] = static_cast<std::int32_t>(value);
    return;
  }
  with_float_type(type_, [&]<class T>(std::type_identity<T>) {
    reinterpret_cast<T*>(buffer_.data())[offset] =
        static_cast<T>(static_cast<Arithmetic<T>>(value));
  });
}

double TestTensor::load(std::int64_t offset) const {
  if (type_ == DType::i32) return reinterpret_cast<const std::int32_t*>(buffer_.data())[offset];
  return with_float_type(type_, [&]<class T>(std::type_identity<T>) -> double {
    return reinterpret_cast<const T*>(buffer_.data())[offset];
  });
}

void TestTensor::write(const Values& values) {
  if (has_padding(layout_)) {
    for (std::int64_t i = 0; i < span_elements(layout_); ++i) store(i, 0);
  }
  for (std::size_t i = 0; i < values.size(); ++i) store(offset_of(i), values[i]);
}

void TestTensor::write_element(std::size_t index, double value) { store(offset_of(index), value); }

Values TestTensor::read() const {
  Values values(static_cast<std::size_t>(shape_of(layout_).elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load(offset_of(i));
  return values;
}

std::vector<std::byte> TestTensor::gaps() const {
  if (is_dense(layout_)) return {};
  std::vector<std::byte> bytes = buffer_.snapshot();
  const std::size_t element = size_of(type_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape_of(layout_).elements()); ++i) {
    const std::size_t own = static_cast<std::size_t>(offset_of(i)) * element;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(own), element, std::byte{0});
  }
  return bytes;
}

bool TestTensor::padding_is_zero() const {
  for (std::int64_t n = 0; n < layout_.extent[0]; ++n) {
    for (std::int64_t c = layout_.extent[1]; c < layout_.padded_channels; ++c) {
      for (std::int64_t h = 0; h < layout_.extent[2]; ++h) {
        for (std::int64_t w = 0; w < layout_.extent[3]; ++w) {
          if (load(layout_.offset(n, c, h, w)) != 0) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace trainyard::op_tests
