// What the columns of a table are to a network, by its training split; and fields as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sets/sample_field.h"
#include "formats/json.h"

namespace trainyard {

/// A column of numbers is one feature, (x - mean) / deviation; a column of categories one for each
/// of them: 1 for the row's category, else 0.
struct FeatureColumn {
  std::string name;
  bool categorical = false;
  double mean = 0, deviation = 1;       // numbers': the population's, 1 instead of a deviation of 0
  std::vector<std::string> categories;  // in the order of their bytes

  [[nodiscard]] std::int64_t features() const { return categorical ? std::ssize(categories) : 1; }
  bool operator==(const FeatureColumn&) const = default;
};

/// The columns in the order of their features.
struct TableForm {
  std::vector<FeatureColumn> columns;

  /// The length of a sample's vector.
  [[nodiscard]] std::int64_t features() const;
  bool operator==(const TableForm&) const = default;
};

/// {"columns": [{"name": "age", "mean": 31.5, "deviation": 12}, {"name": "colour", "categories":
/// ["blue", "red"]}]}
[[nodiscard]] Json json_of(const TableForm& form);
/// The inverse. Throws Json::exception for anything else; numbers may be such as no table has.
[[nodiscard]] TableForm table_form_of(const Json& json);

/// {"name": "price", "shape": [], "floats": true, "front": false}, with "mean" and "deviation", or
/// "words", if it has them.
[[nodiscard]] Json json_of(const SampleField& field);
/// The inverse. Throws Json::exception for anything else.
[[nodiscard]] SampleField sample_field_of(const Json& json);

}  // namespace trainyard
