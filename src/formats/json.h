// JSON with ordered keys: strict parsing under limits, and writing.
//
// The folder formats holds the file formats that several folders read and write: JSON and
// safetensors. What the values mean is known by the callers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard {

/// Keys in the order of the file or of insertion.
using Json = nlohmann::ordered_json;

/// The source of a text and the kind of its errors.
struct JsonSource {
  std::string name;  // a path, for messages
  ErrorKind kind = ErrorKind::data;
};

struct JsonLimits {
  std::int64_t depth = 32;        // nested arrays and objects
  std::int64_t values = 1000000;  // numbers, strings, arrays, objects
};

/// Parses one JSON text. Throws Error{source.kind}: with source:line:column for a syntax error or a
/// number out of range, with the key for a duplicate, and beyond `limits`.
[[nodiscard]] Json parse_json(std::string_view text, const JsonSource& source,
                              const JsonLimits& limits = {});

/// Null for no value, and for non-finite numbers, which JSON lacks.
[[nodiscard]] Json number_or_null(const std::optional<double>& value);

/// Indented by two spaces, with a final newline: for files that people read.
[[nodiscard]] std::string json_text(const Json& value);
/// One line with a newline: for streams of objects.
[[nodiscard]] std::string json_line(const Json& value);

// Whole numbers in JSON.

/// The whole number of a value. Throws Json::exception for any other value, also for 3.5 and true,
/// which get() would convert.
[[nodiscard]] inline std::int64_t integer_of(const Json& value) {
  return value.get_ref<const Json::number_integer_t&>();
}

}  // namespace trainyard
