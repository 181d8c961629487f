// A model's tensors by name, with their memory: what checkpoints and `--init` read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "formats/safetensors.h"
#include "model/model.h"
#include "optim/optimizer.h"

namespace trainyard {

/// A tensor of a model and its location in the device's memory.
struct TensorSlot {
  std::string name;
  Shape shape;
  std::byte* data;
  std::size_t bytes;
};

/// Parameters and running statistics of a copy of the weights, under their layers' paths.
[[nodiscard]] std::vector<TensorSlot> weight_slots(const Model& model, const WeightBlocks& copy);
/// State of each parameter's optimizer, "momentum.PATH".
[[nodiscard]] std::vector<TensorSlot> optimizer_slots(Model& model, const Optimizer& usual,
                                                      const ParameterOverrides& overrides);

[[nodiscard]] std::vector<std::int64_t> extents(const Shape& shape);
/// Why the shape of `tensor` is not that of the slot, or "".
[[nodiscard]] std::string shape_fault(const TensorSlot& slot, const NamedTensor& tensor);

/// If there are `faults`, throws Error{checkpoint} with the first of them and `advice`.
void raise_misfits(const std::vector<std::string>& faults, const std::string& where,
                   const std::string& advice = "");

// Whether all numbers are finite, checked before a checkpoint is written.

/// "nan at element 5" for the first element that is not finite, empty if there is none. Whole
/// numbers always are.
[[nodiscard]] std::optional<std::string> non_finite_element(const NamedTensor& tensor);

/// The path of the first number in `value` that is not finite, as a JSON pointer
/// ("/best/value").
[[nodiscard]] std::optional<std::string> non_finite_number(const Json& value);

}  // namespace trainyard
