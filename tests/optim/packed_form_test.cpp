// Packed forms of parameters and gradients: offsets, types, and the spans of a parameter.
#include "optim/packed_form.h"

#include <doctest/doctest.h>

#include <vector>

#include "blocks.h"
#include "optim/update_launches.h"
#include "read.h"

namespace trainyard {
namespace {

// A parameter of two filters, five channels and 17 places: two chunks and 42 elements.
constexpr std::int64_t kFilters = 2, kChannels = 5, kPlaces = 17;
constexpr std::int64_t kElements = kFilters * kChannels * kPlaces;
constexpr std::size_t kRoom = 3 + kFilters * kPlaces * 8;  // with three channels of padding

/// Places of eight channels, the filters side by side in them, from the fourth number on.
PackedForm form_in(void* data, DType type, std::int64_t first) {
  return {.data = data,
          .type = type,
          .first = first,
          .elements = kElements,
          .channels = kChannels,
          .places = kPlaces,
          .filter_stride = 8,
          .channel_stride = 1,
          .place_stride = kFilters * 8,
          .origin = 3};
}
std::size_t expected_offset(std::int64_t element) {
  const std::int64_t filter = element / (kChannels * kPlaces);
  const std::int64_t channel = element / kPlaces % kChannels, place = element % kPlaces;
  return static_cast<std::size_t>(3 + (place * kFilters + filter) * 8 + channel);
}

template <class T>
std::vector<float> floats_of(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

/// Room for a parameter with values in the places of its elements and -1 elsewhere.
template <class T, class F>
std::vector<T> packed(const F& value) {
  std::vector<T> room(kRoom, T(-1.0F));
  for (std::int64_t i = 0; i < kElements; ++i) room[expected_offset(i)] = T(value(i));
  return room;
}

TEST_CASE_TEMPLATE("a packed form writes and reads each element in its place and type", T, float,
                   Float16, BFloat16) {
  const auto value = [](std::int64_t i) { return 1 + static_cast<float>(i) / 300; };
  std::vector<T> room(kRoom, T(-1.0F));
  const PackedForm form = form_in(room.data(), DTypeOf<T>::value, 0);
  for (std::int64_t i = 0; i < kElements; ++i) {
    form.write(i, value(i));
    REQUIRE(form.offset(i) == static_cast<std::int64_t>(expected_offset(i)));
    REQUIRE(form.read(i) == static_cast<float>(T(value(i))));  // rounded once
  }
  CHECK(floats_of(room) == floats_of(packed<T>(value)));
}

/// A parameter of one chunk, and the one of kElements, whose chunks are two spans.
struct TwoParameters {
  test::Blocks<float> blocks{4, {{}, {}}, 0};
  std::vector<ChunkSpan> spans{{0, 0, 1}, {1, 1, 2}, {1, 3, 1}};

  [[nodiscard]] UpdateBlocks view() {
    UpdateBlocks view = blocks.view();
    view.spans = spans.data();
    view.span_count = 3;
    return view;
  }
};

TEST_CASE("the end of the gradients unpacks those of a parameter, and no padding") {
  TwoParameters two;
  std::vector<float> expected = two.blocks.gradients;
  const auto value = [](std::int64_t i) { return static_cast<float>(i) / 2; };
  std::vector<BFloat16> room = packed<BFloat16>(value);
  const std::vector<PackedForms> forms{{}, {{form_in(room.data(), DType::bf16, kChunk)}}};
  for (std::int64_t i = 0; i < kElements; ++i) {
    expected[static_cast<std::size_t>(kChunk + i)] = value(i);
  }
  double norm = 0;
  GradientFinish task = two.blocks.finish(&norm);
  task.packed.forms = forms.data();
  make_cpu_update_launches(2)->finish_gradients(two.view(), task);
  CHECK(two.blocks.gradients == expected);
}

TEST_CASE("a rule packs the weights that it updates in every form") {
  TwoParameters two;
  std::vector<Float16> halves(kRoom, Float16(-1.0F));
  std::vector<float> floats(kRoom, -1.0F);
  const std::vector<PackedForms> forms{
      {},
      {{form_in(halves.data(), DType::f16, kChunk), form_in(floats.data(), DType::f32, kChunk)}}};
  UpdateBlocks view = two.view();
  view.packed.forms = forms.data();
  make_cpu_update_launches(2)->update(view, test::optimizer("sgd")->rule, 0, {});
  const auto weight = [&](std::int64_t i) {
    return two.blocks.weights[static_cast<std::size_t>(kChunk + i)];
  };
  CHECK(floats_of(halves) == floats_of(packed<Float16>(weight)));
  CHECK(floats == packed<float>(weight));
}

}  // namespace
}  // namespace trainyard
