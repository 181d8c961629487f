#include "starter/pretrained.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::array kKnown = {
    KnownResNet{"ResNet-18", false, {2, 2, 2, 2}},
    KnownResNet{"ResNet-34", false, {3, 4, 6, 3}},
    KnownResNet{"ResNet-50", true, {3, 4, 6, 3}},
};

/// Adds a convolution and the batch norm behind it. `ours` is the path of their branch, `number`
/// theirs there.
void add_pair(const std::string& conv, const std::string& norm, const std::string& ours,
              std::size_t number, const Sizes& shape, std::vector<ResNetTensor>& tensors) {
  const std::string at = std::to_string(number) + ".";
  tensors.push_back({conv + ".weight", ours + "conv" + at + "weight", shape});
  for (const auto& [theirs, own] : {std::pair{".weight", "gamma"},
                                    {".bias", "beta"},
                                    {".running_mean", "running_mean"},
                                    {".running_var", "running_var"}}) {
    tensors.push_back({norm + theirs, ours + "bn" + at + own, {shape[0]}});
  }
}

/// What a file has that the network has not, or the reverse; empty if it is of the network.
std::vector<std::string> faults_of(const KnownResNet& network, const SafetensorsFile& file) {
  std::vector<std::string> faults;
  std::set<std::string> known = {"fc.weight", "fc.bias"};
  for (const ResNetTensor& tensor : tensors_of(network)) {
    known.insert(tensor.theirs);
    const NamedTensor* const found = file.find(tensor.theirs);
    if (found == nullptr) {
      faults.push_back("lacks '" + tensor.theirs + "'");
    } else if (found->shape != tensor.shape) {
      faults.push_back("has '" + tensor.theirs + "' with another shape");
    }
  }
  for (const NamedTensor& tensor : file.tensors()) {
    if (known.contains(tensor.name) || tensor.shape.empty()) continue;
    faults.push_back("has '" + tensor.name + "' besides");
  }
  return faults;
}

[[noreturn]] void refuse(const fs::path& path, std::string_view nearest,
                         const std::vector<std::string>& faults) {
  std::vector<std::string> names;
  for (const KnownResNet& known : kKnown) names.emplace_back(known.name);
  throw checkpoint_error(
      path.string() + ": of " + std::string(nearest) + " it " + faults.front() +
      (faults.size() > 1 ? " (" + std::to_string(faults.size()) + " differences)" : "") +
      "; --from knows the weights of " + joined(names) +
      " of torchvision and timm. For other networks see 'train import' in docs/after_training.md");
}

}  // namespace

std::vector<ResNetTensor> tensors_of(const KnownResNet& network) {
  std::vector<ResNetTensor> tensors;
  add_pair("conv1", "bn1", "", 1, {64, 3, 7, 7}, tensors);
  std::int64_t in = 64;
  for (int layer = 0; layer < 4; ++layer) {
    const std::int64_t inner = 64 << layer, out = network.bottleneck ? 4 * inner : inner;
    for (std::int64_t unit = 0; unit < network.units[layer]; ++unit, in = out) {
      const std::string path = "layer" + std::to_string(layer + 1) + ".";
      const std::string theirs = path + std::to_string(unit) + ".";
      const std::string ours = path + "unit" + std::to_string(unit + 1) + ".add1.";
      std::vector<Sizes> convs = {{inner, in, 3, 3}, {inner, inner, 3, 3}};
      if (network.bottleneck) convs = {{inner, in, 1, 1}, convs[1], {out, inner, 1, 1}};
      for (std::size_t i = 1; i <= convs.size(); ++i) {
        const std::string number = std::to_string(i);
        add_pair(theirs + "conv" + number, theirs + "bn" + number, ours + "0.", i, convs[i - 1],
                 tensors);
      }
      if (unit > 0 || (layer == 0 && in == out)) continue;
      const std::string other = theirs + "downsample.";
      add_pair(other + "0", other + "1", ours + "1.", 1, {out, in, 1, 1}, tensors);
    }
  }
  return tensors;
}

Pretrained read_pretrained(const fs::path& path) {
  SafetensorsFile file = SafetensorsFile::open(path, ErrorKind::checkpoint);
  const KnownResNet* nearest = nullptr;
  std::vector<std::string> faults;
  for (const KnownResNet& known : kKnown) {
    std::vector<std::string> found = faults_of(known, file);
    if (nearest != nullptr && found.size() >= faults.size()) continue;
    nearest = &known;
    faults = std::move(found);
  }
  if (!faults.empty()) refuse(path, nearest->name, faults);
  Pretrained pretrained{.network = *nearest, .file = std::move(file), .tensors = {}};
  const auto take = [&](const std::string& theirs, const std::string& ours) {
    const NamedTensor* const found = pretrained.file.find(theirs);
    if (found == nullptr) return;
    pretrained.tensors.push_back(*found);
    pretrained.tensors.back().name = ours;
  };
  for (const ResNetTensor& tensor : tensors_of(*nearest)) take(tensor.theirs, tensor.ours);
  take("fc.weight", "dense1.weight");
  take("fc.bias", "dense1.bias");
  return pretrained;
}

}  // namespace trainyard
