#include "formats/safetensors.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace trainyard;

namespace {

template <class T>
NamedTensor tensor_of(const std::string& name, StoredType type, std::vector<std::int64_t> shape,
                      const std::vector<T>& values) {
  return {name, type, std::move(shape), std::as_bytes(std::span<const T>(values))};
}

std::vector<std::byte> bytes_of(const SafetensorsImage& image) {
  std::vector<std::byte> bytes;
  for (const auto& part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

std::vector<std::byte> file_with(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::vector<std::byte> bytes(sizeof length + header.size() + data_bytes);
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, header.data(), header.size());
  return bytes;
}

std::string message_of(std::vector<std::byte> bytes) {
  try {
    (void)SafetensorsFile::parse(std::move(bytes), "w.safetensors");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& header, std::size_t data_bytes) {
  const std::string prefix = "w.safetensors: not a usable safetensors file: ";
  const std::string message = message_of(file_with(header, data_bytes));
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

struct Sample {
  std::vector<float> weights = {1.5f, -2.0f, 0.0f, 3.25f, 4.0f, 5.0f};
  std::vector<std::int32_t> labels = {7, -1, 3};
  std::vector<std::uint8_t> pixels = {0, 128, 255};
  std::vector<std::int64_t> counters = {1234567890123};
  std::vector<double> scalar = {0.1};
  std::vector<float> none;
  std::vector<std::uint16_t> halves = {0x3c00, 0x4000};

  [[nodiscard]] std::vector<NamedTensor> tensors() const {
    return {tensor_of("pixels", StoredType::u8, {3}, pixels),
            tensor_of("stem.kernel", StoredType::f32, {2, 3}, weights),
            tensor_of("labels", StoredType::i32, {3}, labels),
            tensor_of("counters", StoredType::i64, {1}, counters),
            tensor_of("empty", StoredType::f32, {0, 4}, none),
            tensor_of("half", StoredType::f16, {2}, halves),
            tensor_of("brain", StoredType::bf16, {1, 2}, halves),
            tensor_of("scalar", StoredType::f64, {}, scalar)};
  }
};

}  // namespace

TEST_CASE("written tensors come back with name, type, shape and bytes") {
  const Sample sample;
  const std::vector<NamedTensor> tensors = sample.tensors();
  const auto file = SafetensorsFile::parse(
      bytes_of(encode_safetensors(tensors, {{"format", "trainyard"}})), "w.safetensors");
  CHECK(file.tensors().size() == tensors.size());
  CHECK(file.metadata() == SafetensorsMetadata{{"format", "trainyard"}});
  for (const NamedTensor& tensor : tensors) {
    const NamedTensor& back = file.at(tensor.name);
    CHECK(back.type == tensor.type);
    CHECK(back.shape == tensor.shape);
    CHECK(
        std::equal(back.bytes.begin(), back.bytes.end(), tensor.bytes.begin(), tensor.bytes.end()));
  }
}

TEST_CASE("the file of a small tensor is known byte by byte") {
  const std::vector<float> values = {1.0f};
  const auto bytes =
      bytes_of(encode_safetensors(std::vector{tensor_of("a", StoredType::f32, {1}, values)}));
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )";
  CHECK(header.size() == 56);
  auto expected = file_with(header, 4);
  std::memcpy(expected.data() + expected.size() - 4, values.data(), 4);
  CHECK(bytes == expected);
}

TEST_CASE("tensors are sorted by falling element size, then by name, from a multiple of 8 bytes") {
  const Sample sample;
  const SafetensorsImage image = encode_safetensors(sample.tensors());
  CHECK(image.head.size() % 8 == 0);
  const auto file = SafetensorsFile::parse(bytes_of(image), "w.safetensors");
  std::string names;
  for (const NamedTensor& tensor : file.tensors()) names += tensor.name + " ";
  CHECK(names == "counters scalar empty labels stem.kernel brain half pixels ");
}

TEST_CASE("a file without tensors is legal") {
  const auto file = SafetensorsFile::parse(bytes_of(encode_safetensors({})), "w.safetensors");
  CHECK(file.tensors().empty());
}

TEST_CASE("the error for a missing tensor lists the existing ones") {
  const Sample sample;
  const auto file = SafetensorsFile::parse(
      bytes_of(encode_safetensors(std::vector{sample.tensors()[0], sample.tensors()[2]})),
      "w.safetensors", ErrorKind::checkpoint);
  CHECK(file.find("images") == nullptr);
  CHECK_THROWS_WITH_AS((void)file.at("images"),
                       "w.safetensors: no tensor 'images'; it holds 'labels', 'pixels'", Error);
}

TEST_CASE("headers that do not fit the file are refused") {
  CHECK(message_of({}).ends_with("it is empty"));
  CHECK(message_of(std::vector<std::byte>(7)).ends_with("it is shorter than 8 bytes"));
  auto bytes = file_with("{}", 0);
  bytes[0] = std::byte{3};
  CHECK(message_of(bytes).find("its header claims 3 bytes, the file holds 10") !=
        std::string::npos);
  bytes[7] = std::byte{255};
  CHECK(message_of(bytes).find("its header claims 18374686479671623683 bytes") !=
        std::string::npos);
  CHECK(refusal("[]", 0) == "its header does not begin with '{'");
  CHECK(refusal("{} ", 1) == "its tensors take 0 bytes of data, it holds 1");
}

TEST_CASE("holes, overlaps and data that end early are refused") {
  const auto entry = [](const std::string& name, int begin, int end) {
    return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) +
           "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  CHECK(refusal("{" + entry("a", 0, 4) + "," + entry("b", 4, 6) + "}", 6).empty());
  CHECK(refusal("{" + entry("a", 0, 4) + "," + entry("b", 5, 6) + "}", 6) ==
        "tensor 'b' begins at byte 5 of the data, 4 was expected (no holes, no overlap)");
  CHECK(refusal("{" + entry("a", 0, 4) + "," + entry("b", 3, 6) + "}", 6) ==
        "tensor 'b' begins at byte 3 of the data, 4 was expected (no holes, no overlap)");
  CHECK(refusal("{" + entry("a", 0, 4) + "}", 3) == "its tensors take 4 bytes of data, it holds 3");
  CHECK(refusal("{" + entry("a", 0, 4) + "," + entry("a", 4, 6) + "}", 6) ==
        "w.safetensors: duplicate key 'a'");
}

TEST_CASE("each bad field of a tensor has its own message") {
  const auto with = [](const std::string& body) { return refusal("{\"a\":" + body + "}", 4); };
  CHECK(with("3") == "tensor 'a' is not an object");
  CHECK(with(R"({"dtype":"U8","shape":[4]})") ==
        "tensor 'a' has keys other than dtype, shape and data_offsets");
  CHECK(with(R"({"dtype":"U8","shape":[4],"offsets":[0,4]})") ==
        "tensor 'a' has no 'data_offsets'");
  CHECK(with(R"({"dtype":"Q4","shape":[4],"data_offsets":[0,4]})") ==
        "tensor 'a' has dtype 'Q4'; supported are F64, F32, F16, BF16, I64, I32 and U8");
  CHECK(with(R"({"dtype":"U8","shape":4,"data_offsets":[0,4]})") ==
        "tensor 'a' has a shape that is not a list");
  CHECK(with(R"({"dtype":"U8","shape":[-4],"data_offsets":[0,4]})") ==
        "tensor 'a' has -4 where a count of 0 or more is expected");
  CHECK(with(R"({"dtype":"U8","shape":[4],"data_offsets":[0,4,4]})") ==
        "tensor 'a' has data_offsets that are not a pair");
  CHECK(with(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})") ==
        "tensor 'a' needs 8 bytes by shape and dtype, its data_offsets are [0, 4)");
  CHECK(with(R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,4]})") ==
        "tensor 'a' has a shape of more than 2^64 bytes");
  CHECK(refusal(R"({"__metadata__":{"n":1}})", 0) == "'__metadata__' has 'n' that is not text");
}

TEST_CASE("1,000 random corruptions are refused or leave a valid file, and never crash") {
  const Sample sample;
  const auto good = bytes_of(encode_safetensors(sample.tensors(), {{"format", "trainyard"}}));
  std::mt19937 random(17);
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    auto bad = good;
    const std::size_t at = random() % bad.size();
    switch (round % 3) {
      case 0:
        bad[at] ^= static_cast<std::byte>(1u << (random() % 8));
        break;
      case 1:
        bad.resize(at);
        break;
      default:
        for (std::size_t i = at; i < std::min(at + 6, bad.size()); ++i) {
          bad[i] = static_cast<std::byte>(random() & 255);
        }
    }
    try {
      const auto file = SafetensorsFile::parse(std::move(bad), "w.safetensors");
      std::size_t sum = 0;
      for (const NamedTensor& tensor : file.tensors()) {
        for (const std::byte byte : tensor.bytes) sum += static_cast<std::size_t>(byte);
      }
      CHECK(sum < 1000000);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 500);
  CHECK(refused < 1000);
}

TEST_CASE("duplicate names and bytes that do not match the shape fail a check") {
  const Sample sample;
  const auto tensors = sample.tensors();
  CHECK_THROWS_AS((void)encode_safetensors(std::vector{tensors[0], tensors[0]}), Error);
  NamedTensor wrong = tensors[1];
  wrong.shape = {5};
  CHECK_THROWS_AS((void)encode_safetensors(std::vector{wrong}), Error);
}
