// Weights of another program that a starter begins with: recognised by the names and shapes of
// their tensors, and renamed for the starter's network.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "formats/safetensors.h"

namespace trainyard {

/// A ResNet of torchvision and timm (He et al. 2015, stride on the 3x3 convolution): four layers of
/// units.
struct KnownResNet {
  std::string_view name;
  bool bottleneck;  // units of three convolutions, else of two
  std::array<std::int64_t, 4> units;
};

/// A tensor of a ResNet in PyTorch's file ("layer1.0.conv1.weight") and in the starter's network
/// ("layer1.unit1.add1.0.conv1.weight").
struct ResNetTensor {
  std::string theirs, ours;
  std::vector<std::int64_t> shape;
};
/// All but those of the last layer.
[[nodiscard]] std::vector<ResNetTensor> tensors_of(const KnownResNet& network);

struct Pretrained {
  KnownResNet network;
  SafetensorsFile file;
  /// Tensors of `file` under the names of the starter's network, the last layer's too; counters
  /// such as num_batches_tracked are left out.
  std::vector<NamedTensor> tensors;
};

/// Reads a safetensors file of torchvision's or timm's ResNet-18, -34 or -50, of any number of
/// classes. Throws Error{checkpoint}: a file of another kind, or of another network, with the first
/// tensor that differs from the most similar known one.
[[nodiscard]] Pretrained read_pretrained(const fs::path& path);

}  // namespace trainyard
