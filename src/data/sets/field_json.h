// What a field of samples is, as JSON.
#pragma once

#include "data/sets/sample_field.h"
#include "formats/json.h"

namespace trainyard {

/// {"name": "price", "shape": [], "floats": true, "front": false}, with "mean" and "deviation", or
/// "words", if it has them.
[[nodiscard]] Json json_of(const SampleField& field);
/// The inverse. Throws Json::exception for anything else.
[[nodiscard]] SampleField sample_field_of(const Json& json);

}  // namespace trainyard
