// Whether all numbers are finite, checked before a checkpoint is written.
#pragma once

#include <optional>
#include <string>

#include "formats/json.h"
#include "formats/safetensors.h"

namespace trainyard {

/// "nan at element 5" for the first element that is not finite, empty if there is none. Whole
/// numbers always are.
[[nodiscard]] std::optional<std::string> non_finite_element(const NamedTensor& tensor);

/// The path of the first number in `value` that is not finite, as a JSON pointer
/// ("/best/value").
[[nodiscard]] std::optional<std::string> non_finite_number(const Json& value);

}  // namespace trainyard
