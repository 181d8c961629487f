// A starter that fine-tunes: its network and weights give torchvision's logits
// (scripts/make_pretrained_goldens.py).
#include "starter/pretrained.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "../base/temporary_folder.h"
#include "base/atomic_file.h"
#include "base/philox.h"
#include "config/load.h"
#include "evaluated.h"
#include "graph/include.h"
#include "starter/starter.h"

namespace trainyard::export_tests {
namespace {

constexpr std::int64_t kClasses = 5, kPixels = 3 * 224 * 224;
/// The difference of float32 from PyTorch's float64; logits are up to 5.
constexpr double kBound = 1e-5;

/// [-1, 1), as in the script.
std::vector<float> noise_of(const std::string& name, std::size_t count, double bound,
                            double centre) {
  std::vector<float> values(count);
  const std::uint32_t key = key_of(name);
  for (std::size_t i = 0; i < count; ++i) {
    const Random4 draw = philox(key, 0, static_cast<std::uint32_t>(i), 0, 0, 0);
    values[i] = static_cast<float>(((draw.word[0] >> 8) * 0x1p-23 - 1) * bound + centre);
  }
  return values;
}

/// The values of a tensor of state_dict().
std::vector<float> value_of(const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies());
  const auto elements = static_cast<std::size_t>(count);
  const bool near_one =
      name.ends_with("running_var") || (shape.size() == 1 && name.ends_with("weight"));
  if (near_one) return noise_of(name, elements, 0.25, 0.75);
  const double fan_in = static_cast<double>(count / shape[0]);
  return noise_of(name, elements, shape.size() > 1 ? std::sqrt(3.0 / fan_in) : 0.1, 0);
}

/// The file of a torchvision network with random weights.
std::vector<std::byte> torchvision_file(const KnownResNet& network) {
  std::vector<ResNetTensor> specs = tensors_of(network);
  specs.push_back({"fc.weight", "", {kClasses, network.bottleneck ? 2048 : 512}});
  specs.push_back({"fc.bias", "", {kClasses}});
  std::vector<std::vector<float>> values;
  std::vector<NamedTensor> tensors;
  for (const ResNetTensor& spec : specs) values.push_back(value_of(spec.theirs, spec.shape));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    tensors.push_back(
        {specs[i].theirs, StoredType::f32, specs[i].shape, std::as_bytes(std::span(values[i]))});
  }
  std::vector<std::byte> bytes;
  const SafetensorsImage image = encode_safetensors(tensors);
  for (const auto& part : image.parts()) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

/// What the starter's network gives for the script's two images.
std::vector<float> starter_logits(const KnownResNet& network) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "theirs.safetensors";
  const std::vector<std::byte> bytes = torchvision_file(network);
  const std::span<const std::byte> whole(bytes);
  Disk().write_file(path, std::span(&whole, 1));
  const Pretrained weights = read_pretrained(path);
  CHECK(weights.network.name == network.name);
  const StarterData data{.kind = StarterKind::images,
                         .name = "photos",
                         .path = "photos",
                         .images = {.samples = 100, .outputs = kClasses, .side = 300}};
  const StarterFiles files = write_starter(data, &weights, folder.path(), Disk());
  const config::Node tree = load_network(files.network);
  const SafetensorsFile ours = SafetensorsFile::open(files.weights);
  std::vector<float> images = noise_of("images", 2 * kPixels, 1, 0);
  for (std::size_t i = kPixels; i < images.size(); ++i) images[i] *= 4;
  return evaluate(tree, read_named_weights(ours, "ours", network_with_logits(tree, 2)), 2, images)
      .logits;
}

TEST_CASE("networks with torchvision's weights give torchvision's logits") {
  const config::Node goldens =
      config::load_yaml(TY_SOURCE_DIR "/tests/export/torchvision_resnets.yaml");
  for (const KnownResNet& network : {KnownResNet{"ResNet-18", false, {2, 2, 2, 2}},
                                     KnownResNet{"ResNet-34", false, {3, 4, 6, 3}},
                                     KnownResNet{"ResNet-50", true, {3, 4, 6, 3}}}) {
    CAPTURE(network.name);
    const std::vector<float> logits = starter_logits(network);
    REQUIRE(logits.size() == 2 * kClasses);
    const config::Node& rows = *goldens.find(std::string(network.name));
    double worst = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double expected = rows.items[i / kClasses].items[i % kClasses].real;
      const double difference = std::abs(logits[i] - expected);
      if (!(difference <= worst)) worst = difference;  // keeps a NaN
    }
    CHECK(worst <= kBound);
  }
}

}  // namespace
}  // namespace trainyard::export_tests
