// Reorders, sums of gradients, and the walks that they use.
#include "base/error.h"
#include "compute/walk.h"
#include "functor_harness.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kCopiedShape{2, 11, 3, 5};

Walk walk_of(const Layout& a, const Layout& b) {
  const Layout layouts[] = {a, b};
  return plan_walk(layouts);
}

TEST_CASE("a walk takes the longest runs that its layouts share") {
  const Layout plain = plain_layout(kCopiedShape), blocked = blocked_layout(kCopiedShape, 8);
  const Layout last = channels_last_layout(kCopiedShape, 4);
  const std::vector<StoredLayout> layouts = test::stored_layouts(kCopiedShape);
  const Layout plain_slice = layouts[5].layout, blocked_slice = layouts[6].layout;
  const Layout last_slice = layouts[7].layout;

  CHECK(walk_of(plain, plain).kind == Walk::Kind::dense);
  CHECK(walk_of(plain, plain).runs == 1);
  CHECK(walk_of(plain, plain).length == 2 * 11 * 3 * 5);
  CHECK(walk_of(blocked, blocked).length == 2 * 16 * 3 * 5);
  CHECK(walk_of(last, last).length == 2 * 12 * 3 * 5);
  CHECK(walk_of(plain, plain_slice).kind == Walk::Kind::images);
  CHECK(walk_of(blocked, blocked_slice).kind == Walk::Kind::images);
  CHECK(walk_of(blocked, blocked_slice).runs == 2);
  CHECK(walk_of(blocked, blocked_slice).length == 16 * 3 * 5);
  CHECK(walk_of(last_slice, channels_last_layout(kCopiedShape, 1)).kind == Walk::Kind::pixels);
  CHECK(walk_of(last_slice, channels_last_layout(kCopiedShape, 1)).runs == 2 * 3 * 5);
  CHECK(walk_of(last_slice, last).kind == Walk::Kind::strided);  // paddings differ
  CHECK(walk_of(plain, blocked).kind == Walk::Kind::strided);
  CHECK(walk_of(blocked_layout(kCopiedShape, 16), blocked).kind == Walk::Kind::strided);
  CHECK(run_stride(walk_of(blocked, blocked_slice), blocked) == 16 * 3 * 5);
  CHECK(run_stride(walk_of(last_slice, channels_last_layout(kCopiedShape, 1)), last_slice) == 35);
  CHECK(run_stride(walk_of(plain, blocked), plain) == 0);  // no runs
}

template <class From, class To>
void check_reorders() {
  const std::vector<double> list = [] {
    std::vector<double> values;
    for (int i = 0; i < 330; ++i) values.push_back((i * 37) % 251);  // exact in every type
    return values;
  }();
  for (const StoredLayout& from : test::stored_layouts(kCopiedShape)) {
    for (const StoredLayout& to : test::stored_layouts(kCopiedShape)) {
      CAPTURE(from.name);
      CAPTURE(to.name);
      Tensor<From> x(from, list);
      Tensor<To> y(to);
      const auto executor =
          make_functor_reorder(from.layout, DTypeOf<From>::value, to.layout, DTypeOf<To>::value, 3);
      executor->bind({.inputs = {x.view()}, .outputs = {y.view()}});
      executor->run();
      CHECK(y.elements() == std::vector<To>(list.begin(), list.end()));
      CHECK(y.is_clean());
    }
  }
}

TEST_CASE("reorders move every element between any two layouts and types") {
  check_reorders<float, float>();
  check_reorders<float, double>();
  check_reorders<double, float>();
  check_reorders<double, double>();
  check_reorders<std::int32_t, float>();
  check_reorders<std::uint8_t, float>();
  check_reorders<std::uint8_t, double>();
  check_reorders<std::int32_t, std::int32_t>();
}

TEST_CASE("an accumulation adds between any two layouts") {
  const std::vector<double> a = test::draws(330, 1), b = test::draws(400, 2);
  for (const StoredLayout& from : test::stored_layouts(kCopiedShape)) {
    for (const StoredLayout& to : test::stored_layouts(kCopiedShape)) {
      Tensor<float> x(from, a), y(to, b);
      const auto executor = make_functor_accumulate(from.layout, to.layout, DType::f32, 2);
      executor->bind({.inputs = {x.view()}, .outputs = {y.view()}});
      executor->run();
      const std::vector<float> sum = y.elements();
      for (std::size_t i = 0; i < sum.size(); ++i) {
        CHECK(sum[i] == static_cast<float>(b[i]) + static_cast<float>(a[i]));
      }
      CHECK(y.is_clean());
    }
  }
}

/// Values that no 16-bit type holds exactly, as T would store them.
template <class T>
std::vector<float> rounded(const std::vector<float>& values) {
  std::vector<float> list;
  for (const float value : values) list.push_back(T(value));
  return list;
}

template <class T>
void check_16_bit_copies() {
  const Layout plain = plain_layout(kCopiedShape), padded = channels_last_layout(kCopiedShape, 8);
  std::vector<float> values;
  for (const double draw : test::draws(kCopiedShape.elements(), 3)) values.push_back(draw);
  std::vector<T> stored(static_cast<std::size_t>(span_elements(padded)), T(7.0f));
  std::vector<float> back(values.size());
  const TensorView from{values.data(), DType::f32, plain};
  const TensorView middle{stored.data(), DTypeOf<T>::value, padded};
  const TensorView to{back.data(), DType::f32, plain};
  const auto downcast = make_functor_reorder(plain, DType::f32, padded, DTypeOf<T>::value, 2);
  downcast->bind({.inputs = {from}, .outputs = {middle}});
  downcast->run();
  const auto upcast = make_functor_reorder(padded, DTypeOf<T>::value, plain, DType::f32, 2);
  upcast->bind({.inputs = {middle}, .outputs = {to}});
  upcast->run();
  CHECK(back == rounded<T>(values));
  for (std::int64_t c = 11; c < 16; ++c) CHECK(stored[padded.offset(1, c, 2, 4)].bits == 0);

  // The sum is formed in float and rounded once.
  const auto sum = make_functor_accumulate(padded, padded, DTypeOf<T>::value, 2);
  sum->bind({.inputs = {middle}, .outputs = {middle}});
  sum->run();
  upcast->run();
  std::vector<float> doubled;
  for (const float value : rounded<T>(values)) doubled.push_back(T(value + value));
  CHECK(back == doubled);
}

TEST_CASE("reorders and sums of gradients round once to 16 bits, in any layout") {
  check_16_bit_copies<Float16>();
  check_16_bit_copies<BFloat16>();
}

TEST_CASE("a reorder that would round a double twice fails a check") {
  const Layout plain = plain_layout(kCopiedShape);
  CHECK_THROWS_AS(make_functor_reorder(plain, DType::f64, plain, DType::f16, 1), Error);
}

}  // namespace
}  // namespace trainyard
