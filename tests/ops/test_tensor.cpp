#include "test_tensor.h"

#include <cstring>
#include <type_traits>

#include "tensor/dtype.h"

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

/// f(index of its first element, its offset) for each row of the tensor.
template <class F>
void TestTensor::each_row(const F& f) const {
  std::size_t index = 0;
  const auto [batch, channels, height, width] = layout_.extent;
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t h = 0; h < height; ++h, index += static_cast<std::size_t>(width)) {
        f(index, layout_.offset(n, c, h, 0));
      }
    }
  }
}

/// f(pointer to the elements in their type).
template <class F>
void TestTensor::with_elements(const F& f) const {
  std::byte* const data = const_cast<GuardedBuffer&>(buffer_).data();
  if (type_ == DType::i32) return f(reinterpret_cast<std::int32_t*>(data));
  with_float_type(type_, [&]<class T>(std::type_identity<T>) { f(reinterpret_cast<T*>(data)); });
}

namespace {

template <class T>
void store(double value, T& to) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    to = static_cast<std::int32_t>(value);
  } else {
    to = static_cast<T>(static_cast<Arithmetic<T>>(value));
  }
}

}  // namespace

void TestTensor::write(const Values& values) {
  if (has_padding(layout_)) buffer_.fill(std::byte{0});
  const std::int64_t width = layout_.extent[3], step = layout_.stride[3];
  with_elements([&](auto* to) {
    each_row([&](std::size_t index, std::int64_t offset) {
      for (std::int64_t w = 0; w < width; ++w) store(values[index++], to[offset + w * step]);
    });
  });
}

void TestTensor::write_element(std::size_t index, double value) {
  with_elements([&](auto* to) { store(value, to[offset_of(index)]); });
}

Values TestTensor::read() const {
  Values values(static_cast<std::size_t>(shape_of(layout_).elements()));
  const std::int64_t width = layout_.extent[3], step = layout_.stride[3];
  with_elements([&](const auto* from) {
    each_row([&](std::size_t index, std::int64_t offset) {
      for (std::int64_t w = 0; w < width; ++w) values[index++] = from[offset + w * step];
    });
  });
  return values;
}

Bytes TestTensor::gaps() const {
  if (is_dense(layout_)) return {};
  Bytes bytes = buffer_.snapshot();
  const auto element = static_cast<std::int64_t>(size_of(type_));
  each_row([&](std::size_t, std::int64_t offset) {
    for (std::int64_t w = 0; w < layout_.extent[3]; ++w) {
      std::memset(bytes.data() + (offset + w * layout_.stride[3]) * element, 0, size_of(type_));
    }
  });
  return bytes;
}

bool TestTensor::padding_is_zero() const {
  bool zero = true;
  with_elements([&](const auto* from) {
    for (std::int64_t n = 0; n < layout_.extent[0]; ++n) {
      for (std::int64_t c = layout_.extent[1]; c < layout_.padded_channels; ++c) {
        for (std::int64_t h = 0; h < layout_.extent[2]; ++h) {
          for (std::int64_t w = 0; w < layout_.extent[3]; ++w) {
            zero = zero && static_cast<double>(from[layout_.offset(n, c, h, w)]) == 0;
          }
        }
      }
    }
  });
  return zero;
}

}  // namespace trainyard::op_tests
