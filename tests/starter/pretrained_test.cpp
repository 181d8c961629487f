// Weights of another program: what is recognised, and what is refused.
#include "starter/pretrained.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/atomic_file.h"

using namespace trainyard;

namespace {

constexpr KnownResNet kResNet18{"ResNet-18", false, {2, 2, 2, 2}};

/// Weights of zeros.
class Zeros {
 public:
  Zeros() : zeros_(std::size_t{4} * 512 * 512 * 9) {
    for (const ResNetTensor& tensor : tensors_of(kResNet18)) add(tensor.theirs, tensor.shape);
    add("fc.weight", {1000, 512});
    add("fc.bias", {1000});
    tensors.push_back({"bn1.num_batches_tracked", StoredType::i64, {}, std::span(zeros_).first(8)});
  }
  void add(const std::string& name, const std::vector<std::int64_t>& shape) {
    std::size_t bytes = 4;
    for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
    tensors.push_back({name, StoredType::f32, shape, std::span(zeros_).first(bytes)});
  }
  void drop(const std::string& name) {
    std::erase_if(tensors, [&](const NamedTensor& tensor) { return tensor.name == name; });
  }
  [[nodiscard]] Pretrained read() const {
    const testing::TemporaryFolder folder;
    Disk().write_file(folder.path() / "w.safetensors", encode_safetensors(tensors).parts());
    return read_pretrained(folder.path() / "w.safetensors");
  }
  [[nodiscard]] std::string refusal() const {
    return testing::error_of(ErrorKind::checkpoint, [&] { static_cast<void>(read()); });
  }

  std::vector<NamedTensor> tensors;

 private:
  std::vector<std::byte> zeros_;
};

}  // namespace

TEST_CASE("a ResNet is recognised with and without its last layer, and renamed") {
  Zeros zeros;
  const Pretrained whole = zeros.read();
  CHECK(whole.network.name == "ResNet-18");
  CHECK(whole.tensors.size() == 102);
  CHECK(whole.tensors[0].name == "conv1.weight");
  CHECK(whole.tensors[6].name == "layer1.unit1.add1.0.bn1.gamma");
  CHECK(whole.tensors.back().name == "dense1.bias");
  zeros.drop("fc.weight");
  zeros.drop("fc.bias");
  CHECK(zeros.read().tensors.size() == 100);
}

TEST_CASE("another network is refused with what differs from the nearest one") {
  const auto expect = [](const Zeros& zeros, const std::string& difference) {
    const std::string message = zeros.refusal();
    CAPTURE(message);
    CHECK(message.ends_with("w.safetensors: of ResNet-18 it " + difference +
                            "; --from knows the weights of ResNet-18, ResNet-34, ResNet-50 of "
                            "torchvision and timm. For "
                            "other networks see 'train import' in docs/after_training.md"));
  };
  Zeros lacks;
  lacks.drop("layer4.1.bn2.running_var");
  expect(lacks, "lacks 'layer4.1.bn2.running_var'");
  Zeros besides;
  besides.add("layer1.0.se.fc1.weight", {4, 64, 1, 1});
  besides.add("layer1.0.se.fc2.weight", {64, 4, 1, 1});
  expect(besides, "has 'layer1.0.se.fc1.weight' besides (2 differences)");
  Zeros shaped;
  shaped.drop("conv1.weight");
  shaped.add("conv1.weight", {64, 1, 7, 7});
  expect(shaped, "has 'conv1.weight' with another shape");
}
