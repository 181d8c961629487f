#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "checkpoint/tensor_slots.h"

using namespace trainyard;

namespace {

template <class T>
std::string found(StoredType type, const std::vector<T>& values) {
  return non_finite_element({"t",
                             type,
                             {static_cast<std::int64_t>(values.size())},
                             std::as_bytes(std::span(values))})
      .value_or("");
}

}  // namespace

TEST_CASE("the first element that is not finite is found in every floating type") {
  using Float = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  CHECK(found<float>(StoredType::f32, {1, -Float::infinity(), Float::quiet_NaN()}) ==
        "-inf at element 1");
  CHECK(found<double>(StoredType::f64, {1, 2, Double::quiet_NaN()}) == "nan at element 2");
  CHECK(found<std::uint16_t>(StoredType::f16, {0x7bff, 0x7c00}) == "inf at element 1");
  CHECK(found<std::uint16_t>(StoredType::bf16, {0xff81}) == "nan at element 0");
}

TEST_CASE("the largest, smallest and denormal numbers are finite, and so are all whole numbers") {
  using Float = std::numeric_limits<float>;
  CHECK(found<float>(StoredType::f32, {Float::max(), Float::lowest(), Float::denorm_min(), -0.0f})
            .empty());
  CHECK(found<std::uint16_t>(StoredType::f16, {0x7bff, 0xfbff, 0x0001}).empty());
  CHECK(found<std::uint16_t>(StoredType::bf16, {0x7f7f, 0xff7f}).empty());
  CHECK(found<std::int32_t>(StoredType::i32, {0x7f800000, -1}).empty());
  CHECK(found<std::uint8_t>(StoredType::u8, {255}).empty());
}

TEST_CASE("a number that is not finite is found in nested JSON by its path") {
  Json state = {{"a", 1.5}, {"list", {1, 2, {{"x", 3.0}}}}};
  CHECK_FALSE(non_finite_number(state).has_value());
  state["list"][2]["x"] = std::numeric_limits<double>::infinity();
  CHECK(non_finite_number(state) == "/list/2/x");
}
