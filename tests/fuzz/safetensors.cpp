#include "formats/safetensors.h"

#include <algorithm>

#include "expect.h"

namespace trainyard::fuzz {

namespace {

std::vector<std::byte> written(const SafetensorsFile& file) {
  const SafetensorsImage image = encode_safetensors(file.tensors(), file.metadata());
  std::vector<std::byte> bytes;
  for (const auto& part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace

void read_safetensors(std::string_view input) {
  const auto bytes = std::as_bytes(std::span(input));
  const SafetensorsFile file = SafetensorsFile::parse({bytes.begin(), bytes.end()}, "x");
  const SafetensorsFile again = read_again(
      "what was written", [&] { return SafetensorsFile::parse(written(file), "again"); });
  expect(again.metadata() == file.metadata(), "other metadata");
  expect(again.tensors().size() == file.tensors().size(), "another number of tensors");
  for (const NamedTensor& tensor : file.tensors()) {
    const NamedTensor& copy =
        read_again(tensor.name, [&]() -> const NamedTensor& { return again.at(tensor.name); });
    expect(copy.type == tensor.type && copy.shape == tensor.shape &&
               std::ranges::equal(copy.bytes, tensor.bytes),
           "another tensor " + tensor.name);
  }
}

}  // namespace trainyard::fuzz
