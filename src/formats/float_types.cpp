#include "formats/float_types.h"

#include <cmath>
#include <concepts>
#include <cstring>

#include "base/half.h"

namespace trainyard {

namespace {

/// Calls f with a value of the float type of `type`; not called for other types.
template <class F>
void with_float(StoredType type, const F& f) {
  switch (type) {
    case StoredType::f64:
      return f(double{});
    case StoredType::f32:
      return f(float{});
    case StoredType::f16:
      return f(Float16{});
    case StoredType::bf16:
      return f(BFloat16{});
    case StoredType::i64:
    case StoredType::i32:
    case StoredType::u8:
      return;
  }
}

/// float holds every value of a 16-bit type, so rounding twice loses no more than rounding once.
template <class To>
To converted(double value) {
  if constexpr (std::same_as<To, double>)
    return value;
  else
    return To(static_cast<float>(value));
}

template <class T>
double as_double(T value) {
  if constexpr (std::same_as<T, double>)
    return value;
  else
    return static_cast<float>(value);
}

template <class From, class To>
ConvertedTensor convert(std::span<const std::byte> from) {
  const std::size_t count = from.size() / sizeof(From);
  ConvertedTensor result{.bytes = std::vector<std::byte>(count * sizeof(To))};
  for (std::size_t i = 0; i < count; ++i) {
    From stored;  // bytes of a file may be unaligned
    std::memcpy(&stored, from.data() + i * sizeof(From), sizeof(From));
    const double value = as_double(stored);
    const To changed = converted<To>(value);
    const double back = as_double(changed);
    if (!result.lost && back != value && !(std::isnan(back) && std::isnan(value))) {
      result.lost = value;
    }
    std::memcpy(result.bytes.data() + i * sizeof(To), &changed, sizeof(To));
  }
  return result;
}

}  // namespace

bool is_float(StoredType type) {
  bool is = false;
  with_float(type, [&](auto) { is = true; });
  return is;
}

ConvertedTensor converted(const NamedTensor& tensor, StoredType type) {
  TY_CHECK(is_float(tensor.type) && is_float(type), "only float types are converted");
  ConvertedTensor result;
  with_float(tensor.type, [&](auto from) {
    with_float(type,
               [&](auto to) { result = convert<decltype(from), decltype(to)>(tensor.bytes); });
  });
  return result;
}

}  // namespace trainyard
