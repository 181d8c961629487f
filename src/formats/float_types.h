// Lossless conversion of tensors between float types.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "formats/safetensors.h"

namespace trainyard {

[[nodiscard]] bool is_float(StoredType type);

struct ConvertedTensor {
  std::vector<std::byte> bytes;
  /// The first value that the new type cannot represent; NaN counts as one value.
  std::optional<double> lost;
};

/// The elements of `tensor` as `type`; both must be float types.
[[nodiscard]] ConvertedTensor converted(const NamedTensor& tensor, StoredType type);

}  // namespace trainyard
