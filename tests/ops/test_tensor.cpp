#include "test_tensor.h"

#include "base/error.h"

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
  switch (type_) {
    case DType::f32:
      reinterpret_cast<float*>(buffer_.data())[offset] = static_cast<float>(value);
      return;
    case DType::f64:
      reinterpret_cast<double*>(buffer_.data())[offset] = value;
      return;
    case DType::i32:
      reinterpret_cast<std::int32_t*>(buffer_.data())[offset] = static_cast<std::int32_t>(value);
      return;
    default:
      TY_CHECK(false, "test tensors hold f32, f64 or i32");
  }
}

double TestTensor::load(std::int64_t offset) const {
  switch (type_) {
    case DType::f32:
      return reinterpret_cast<const float*>(buffer_.data())[offset];
    case DType::f64:
      return reinterpret_cast<const double*>(buffer_.data())[offset];
    case DType::i32:
      return reinterpret_cast<const std::int32_t*>(buffer_.data())[offset];
    default:
      TY_CHECK(false, "test tensors hold f32, f64 or i32");
      return 0;
  }
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
