// The cells of a table as features.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sets/separated_rows.h"
#include "data/sets/table_form.h"

namespace trainyard {

/// What is done with cells without a value.
enum class MissingRule {
  error,
  mean,  // numbers are the mean of the training split
  drop,  // their rows are left out
};
[[nodiscard]] constexpr config::Words<MissingRule> words(MissingRule) {
  return {"error", "mean", "drop"};
}
struct MissingCells {
  MissingRule rule = MissingRule::error;
  std::optional<double> value;  // number in place of a missing one, whatever the rule
};
void declare(config::Fields& fields, MissingCells& missing);

/// What is done with categories that the training split does not have.
enum class UnknownCategory {
  error,
  ignore,  // the row has none of the column's categories: all its features are 0
};
[[nodiscard]] constexpr config::Words<UnknownCategory> words(UnknownCategory) {
  return {"error", "ignore"};
}

struct CellRules {
  MissingCells missing;
  UnknownCategory unknown = UnknownCategory::error;
  bool of_target = false;  // the columns are no features: what messages advise
};
/// Declares `missing` and `unknown`.
void declare_cell_rules(config::Fields& fields, CellRules& rules);

/// A column of features and where it is in the rows.
struct PlacedColumn {
  std::size_t place = 0;
  FeatureColumn is;
};

/// Whether a row lacks the value of a column. In a numeric one an empty cell, `NA`, `N/A`, `nan`,
/// `NaN`, `null`, `NULL` and `?` have no value; in a categorical one an empty cell, which is an
/// unknown category.
[[nodiscard]] bool lacks_value(const SeparatedRow& row, const PlacedColumn& column);

/// Finds the mean and deviation of a column's numbers, or its categories, in the rows `training`.
/// `warn` gets a line for a constant column. Throws Error{data} for a column without values, and
/// as features_of().
void fit(PlacedColumn& column, const NamedRows& rows, std::span<const std::int64_t> training,
         const CellRules& rules, const std::function<void(const std::string&)>& warn);

/// The features of the rows `which`, [n, features]. Throws Error{data} with line and column: text
/// among numbers, no value, an unknown category, a number that is too large; and for more than
/// 4 GiB.
[[nodiscard]] std::vector<float> features_of(const NamedRows& rows,
                                             std::span<const PlacedColumn> columns,
                                             std::span<const std::int64_t> which,
                                             const CellRules& rules);

}  // namespace trainyard
