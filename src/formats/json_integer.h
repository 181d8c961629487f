// Whole numbers in JSON.
#pragma once

#include "formats/json.h"

namespace trainyard {

/// The whole number of a value. Throws Json::exception for any other value, also for 3.5 and true,
/// which get() would convert.
[[nodiscard]] inline std::int64_t integer_of(const Json& value) {
  return value.get_ref<const Json::number_integer_t&>();
}

}  // namespace trainyard
