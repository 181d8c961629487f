#include "formats/float_types.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"

using namespace trainyard;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// `values` stored as T and converted; each in its own tensor, at an odd byte.
template <class T>
ConvertedTensor stored_and_converted(const std::vector<T>& values, StoredType from, StoredType to) {
  std::vector<std::byte> bytes(1 + values.size() * sizeof(T));
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(T));
  return converted({.name = "w",
                    .type = from,
                    .shape = {static_cast<std::int64_t>(values.size())},
                    .bytes = std::span(bytes).subspan(1)},
                   to);
}

template <class T>
std::vector<T> values_of(const ConvertedTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace

TEST_CASE("every 16-bit float converts to F32 and F64 and back without change") {
  std::vector<Float16> halves(65536);
  std::vector<BFloat16> shorts(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i].bits = shorts[i].bits = static_cast<std::uint16_t>(i);
  }
  const auto check = [](const auto& stored, StoredType from) {
    const ConvertedTensor wide = stored_and_converted(stored, from, StoredType::f32);
    CHECK_FALSE(wide.lost.has_value());
    const std::vector<float> floats = values_of<float>(wide);
    bool same = true;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const float expected = stored[i];
      same = same && (floats[i] == expected || (std::isnan(floats[i]) && std::isnan(expected)));
    }
    CHECK(same);
    CHECK_FALSE(stored_and_converted(floats, StoredType::f32, from).lost.has_value());
    CHECK_FALSE(stored_and_converted(stored, from, StoredType::f64).lost.has_value());
  };
  check(halves, StoredType::f16);
  check(shorts, StoredType::bf16);
}

TEST_CASE("the first value that the narrower type cannot represent is reported") {
  using Values = std::vector<double>;
  const auto lost = [](const Values& values, StoredType type) {
    return stored_and_converted(values, StoredType::f64, type).lost;
  };
  CHECK(lost({0.5, 0.1, 0.3}, StoredType::f32) == 0.1);
  CHECK(lost({1e300}, StoredType::f32) == 1e300);
  CHECK(lost({1e-300}, StoredType::f32) == 1e-300);
  CHECK(lost({65536}, StoredType::f16) == 65536);
  CHECK(lost({257}, StoredType::bf16) == 257);
  CHECK_FALSE(lost({0.5, -0.0, 65504, 0x1p-24, kNan, kInfinity}, StoredType::f16).has_value());
  CHECK_FALSE(lost({256, 0x1p127, -kInfinity, kNan}, StoredType::bf16).has_value());
  CHECK_FALSE(lost({static_cast<double>(0.1f)}, StoredType::f32).has_value());
  CHECK_FALSE(lost({0.1}, StoredType::f64).has_value());
}

TEST_CASE("integers are not floats") {
  CHECK_FALSE(is_float(StoredType::i64));
  CHECK_FALSE(is_float(StoredType::i32));
  CHECK_FALSE(is_float(StoredType::u8));
  CHECK(is_float(StoredType::bf16));
}
