#include "data/sets/tensors.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "formats/safetensors.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

struct Contents {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape{2, 1, 1, 3};
  std::vector<float> floats{0.5f, -1, 2, 3, 4, 5.25f};
  std::string bytes{"\1\2\3\4\5\377", 6};
  StoredType label_type = StoredType::i32;
  std::vector<std::int32_t> labels{1, 4};
};

constexpr float kTargets[] = {1, 2, 3, 4, 5, 6}, kWeights[] = {0.5f, 2.5f};

TensorsOptions write(const test::TemporaryFolder& folder, const Contents& contents) {
  const bool floats = contents.type == StoredType::f32;
  const NamedTensor tensors[] = {
      {"images", contents.type, contents.shape,
       floats ? std::as_bytes(std::span<const float>(contents.floats))
              : std::as_bytes(std::span<const char>(contents.bytes))},
      {"labels",
       contents.label_type,
       {static_cast<std::int64_t>(contents.labels.size())},
       std::as_bytes(std::span<const std::int32_t>(contents.labels))},
      {"targets", StoredType::f32, {2, 3}, std::as_bytes(std::span(kTargets))},
      {"weights", StoredType::f32, {2}, std::as_bytes(std::span(kWeights))}};
  const SafetensorsImage image = encode_safetensors(tensors);
  std::string file;
  for (const auto& part : image.parts()) {
    file.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  TensorsOptions options;
  options.file = folder.write("set.safetensors", file).string();
  return options;
}

std::string data_message(const TensorsOptions& options) {
  return message_of(ErrorKind::data, [&] { (void)open_tensors(options); });
}

}  // namespace

TEST_CASE("tensors reads further tensors as fields") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.labels = {-1, 1};
  TensorsOptions options = write(folder, contents);
  options.fields = {"targets", "weights"};
  const auto set = open_tensors(options);
  CHECK(set->fields() == std::vector<SampleField>{{},
                                                  {"targets", Shape{3}, DType::f32},
                                                  {"weights", Shape{}, DType::f32}});
  CHECK(set->label(0) == -1);
  float targets[3], weight = 0;
  set->read_field(1, 1, reinterpret_cast<std::byte*>(targets));
  set->read_field(2, 1, reinterpret_cast<std::byte*>(&weight));
  CHECK(targets[2] == 6);
  CHECK(weight == 2.5f);
  options.fields = {"images"};
  CHECK(data_message(options) == "'" + options.file.string() +
                                     "': 'images' is F32 [2, 1, 1, 3], expected F32 or I32 [2] or "
                                     "[2, k]");
}

TEST_CASE("tensors reads float images unchanged") {
  const test::TemporaryFolder folder;
  const auto set = open_tensors(write(folder, {}));
  REQUIRE(set->size() == 2);
  CHECK(set->image_shape() == Shape{1, 1, 3});
  CHECK(set->classes() == 5);
  CHECK(set->label(1) == 4);
  CHECK(set->held().bytes.empty());
  float image[3];
  set->read(1, image);
  CHECK(image[0] == 3.0f);
  CHECK(image[2] == 5.25f);
}

TEST_CASE("tensors reads byte images") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.type = StoredType::u8;
  TensorsOptions options = write(folder, contents);
  options.classes = 10;
  options.limit = 1;
  const auto set = open_tensors(options);
  CHECK(set->size() == 1);
  CHECK(set->classes() == 10);
  float image[3];
  set->read(0, image);
  CHECK(image[2] == 3.0f);
  CHECK(set->held().bytes.size() == 3);
}

TEST_CASE("a missing tensor is refused") {
  const test::TemporaryFolder folder;
  TensorsOptions options = write(folder, {});
  options.images = "pictures";
  CHECK(holds(data_message(options), "pictures"));
}

TEST_CASE("images of three axes are refused with their type and shape") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.shape = {2, 1, 3};
  const TensorsOptions options = write(folder, contents);
  CHECK(data_message(options) == "'" + options.file.string() +
                                     "': 'images' is F32 [2, 1, 3], expected F32 or U8 [n, c, h, "
                                     "w] with at least one element");
}

TEST_CASE("labels of another type are refused") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.label_type = StoredType::f32;
  const TensorsOptions options = write(folder, contents);
  CHECK(data_message(options) ==
        "'" + options.file.string() + "': 'labels' is F32 [2], expected I32 [n]");
}

TEST_CASE("different numbers of images and labels are refused") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.labels = {1, 2, 3};
  const TensorsOptions options = write(folder, contents);
  CHECK(data_message(options) == "'" + options.file.string() +
                                     "': 'images' is F32 [2, 1, 1, 3] but 'labels' is I32 [3]; "
                                     "expected one label per image");
}

TEST_CASE("a label out of range is refused with its record") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.labels = {1, -2};
  const TensorsOptions options = write(folder, contents);
  CHECK(data_message(options) ==
        "'" + options.file.string() +
            "': record 1 (from 0) has label -2, expected 0 to 1, or -1 for none");
}

TEST_CASE("an image value that is not finite is refused with its image") {
  const test::TemporaryFolder folder;
  Contents contents;
  contents.floats[4] = std::numeric_limits<float>::quiet_NaN();
  const TensorsOptions options = write(folder, contents);
  CHECK(data_message(options) ==
        "'" + options.file.string() + "': image 1 (from 0) holds a value that is not finite");
}

}  // namespace trainyard
