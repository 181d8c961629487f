// Augmentations that read bytes, on data of other numbers.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/temporary_folder.h"
#include "formats/safetensors.h"
#include "run/session/session.h"
#include "run_text.h"

using namespace trainyard;

namespace {

/// A source of four images of zeros, 3 x 8 x 8, in `folder`; `type` is u8 or f32.
std::string zeros(const testing::TemporaryFolder& folder, StoredType type) {
  const std::vector<std::byte> images((type == StoredType::u8 ? 1UL : 4UL) * 4 * 3 * 8 * 8);
  const std::vector<std::int32_t> labels{0, 1, 0, 1};
  const NamedTensor tensors[] = {
      {"images", type, {4, 3, 8, 8}, images},
      {"labels", StoredType::i32, {4}, std::as_bytes(std::span(labels))}};
  const SafetensorsImage image = encode_safetensors(tensors);
  std::string file;
  for (const auto& part : image.parts()) {
    file.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return "{source: tensors, file: " + folder.write("set.safetensors", file).string() + "}";
}

std::string refused_crop(const std::string& source, const std::string& crop) {
  const RunConfig run = test::read_run(
      "name: tiny\nnetwork: {input: [3, 8, 8], layers: [dense: 2]}\n"
      "data:\n  train: " +
      source + "\n  val: " + source + "\n  augment: [random_resized_crop: " + crop +
      "]\n  workers: 0\nbatch: {per_gpu: 2}\nloss: cross_entropy\n"
      "optimizer: sgd\nepochs: 1\nthreads: 1\n");
  return test::refusal([&] {
    RankGroup alone({});
    const Session session(run, {.threads = 1}, nullptr, alone);
  });
}

}  // namespace

TEST_CASE("a filtered crop of data that are not of 8 bits is refused") {
  const testing::TemporaryFolder folder;
  const std::string filtered = "{size: 8, filter: bilinear}";
  CHECK(refused_crop(zeros(folder, StoredType::f32), "{size: 8}") == "accepted");
  CHECK(refused_crop(zeros(folder, StoredType::u8), filtered) == "accepted");
  CHECK(refused_crop(zeros(folder, StoredType::f32), filtered)
            .ends_with("'random_resized_crop' with a 'filter' rounds to whole numbers from 0 to "
                       "255, but the data are not 8-bit images; remove 'filter'"));
}
