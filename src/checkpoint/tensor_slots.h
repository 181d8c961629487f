// A model's tensors by name, with where they lie: what checkpoints and `--init` read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/safetensors.h"
#include "model/model.h"
#include "optim/optimizer.h"

namespace trainyard {

/// A tensor of a model and where it lies in the device's memory.
struct TensorSlot {
  std::string name;
  Shape shape;
  std::byte* data;
  std::size_t bytes;
};

/// Parameters and running statistics under their layers' paths.
[[nodiscard]] std::vector<TensorSlot> weight_slots(Model& model);
/// State blocks of the optimizer, "momentum.PATH".
[[nodiscard]] std::vector<TensorSlot> optimizer_slots(Model& model, const Optimizer& optimizer);

[[nodiscard]] std::vector<std::int64_t> extents(const Shape& shape);
/// Why the shape of `tensor` is not the place's, or "".
[[nodiscard]] std::string shape_fault(const TensorSlot& place, const NamedTensor& tensor);

/// Throws Error{checkpoint} with the first of `faults`, if there are any, and then `advice`.
void raise_misfits(const std::vector<std::string>& faults, const std::string& where,
                   const std::string& advice = "");

}  // namespace trainyard
