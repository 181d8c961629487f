#include "data/sets/table_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "config/diagnostics.h"

namespace trainyard {

namespace {

bool has_no_value(std::string_view cell, bool categorical) {
  // Missing values of pandas.read_csv, and '?' as in UCI's files.
  static constexpr std::array<std::string_view, 12> kNone = {
      "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "-nan", "null", "NULL", "None", "<NA>", "?"};
  return cell.empty() || (!categorical && std::ranges::find(kNone, cell) != kNone.end());
}

std::string_view cell_of(const SeparatedRow& row, const PlacedColumn& column) {
  return trimmed(row.cells[column.place]);
}

/// Reads the cells of a table by its rules.
class Cells {
 public:
  Cells(const NamedRows& rows, const CellRules& rules) : rows_(rows), rules_(rules) {}

  /// The number of a cell; empty: the mean of the training split.
  [[nodiscard]] std::optional<double> number(std::int64_t row, const PlacedColumn& column) const {
    const std::string_view cell = text(row, column);
    if (has_no_value(cell, false)) {
      if (rules_.missing.value) return rules_.missing.value;
      if (rules_.missing.rule == MissingRule::mean) return std::nullopt;
      bad(row, column,
          rules_.of_target ? "has no value, and is a target; correct it, or set 'missing: drop'"
                           : "has no value; correct it, or set 'missing' to 'mean', 'drop' or a "
                             "number ('{value: 0}')");
    }
    const std::optional<double> number = parse_real(cell);
    if (number && std::abs(*number) <= std::numeric_limits<float>::max()) return number;
    bad(row, column,
        "'" + shortened(cell) + "' is not " +
            (number ? "within the numbers of 32 bits, up to 3.4e38"
                    : "a number, as 12 or -1.5e3; correct it" +
                          std::string(rules_.of_target ? ""
                                                       : ", or name the column in 'categorical' or "
                                                         "'ignore' of 'columns'")));
  }

  /// Writes the feature of a number.
  void encode_number(std::int64_t row, const PlacedColumn& column, std::span<float> out) const {
    const double value = number(row, column).value_or(column.is.mean);
    out[0] = static_cast<float>((value - column.is.mean) / column.is.deviation);
    if (std::isfinite(out[0])) return;
    bad(row, column,
        "'" + shortened(text(row, column)) +
            "' is too far from the training split's numbers, whose mean is " +
            number_text(column.is.mean) + " and standard deviation " +
            number_text(column.is.deviation));
  }

  /// Writes the features of a category over zeros.
  void encode_category(std::int64_t row, const PlacedColumn& column, std::span<float> out) const {
    const std::vector<std::string>& known = column.is.categories;
    const std::string cell(text(row, column));
    const auto found = std::ranges::lower_bound(known, cell);
    if (found != known.end() && *found == cell) {
      out[static_cast<std::size_t>(found - known.begin())] = 1;
      return;
    }
    if (rules_.unknown == UnknownCategory::ignore) return;
    bad(row, column,
        (cell.empty() ? "has no value"
                      : "'" + shortened(cell) + "' is not a category of the training split") +
            "; correct it, or set 'unknown: ignore', with which the row has none of the column's "
            "categories" +
            config::suggestion(cell, known));
  }

  [[nodiscard]] std::string_view text(std::int64_t row, const PlacedColumn& column) const {
    return cell_of(rows_.rows[static_cast<std::size_t>(row)], column);
  }

 private:
  [[noreturn]] void bad(std::int64_t row, const PlacedColumn& column,
                        const std::string& what) const {
    rows_.bad_cell(rows_.rows[static_cast<std::size_t>(row)], column.place, what);
  }

  const NamedRows& rows_;
  const CellRules& rules_;
};

/// Returns whether all numbers are the same.
bool fit_numbers(FeatureColumn& column, const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  column.mean = values.front();
  const bool constant =
      std::ranges::all_of(values, [&](double value) { return value == values.front(); });
  if (constant) return true;
  column.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - column.mean) * (value - column.mean);
  const double deviation = std::sqrt(squares / count);
  if (deviation > 0) column.deviation = deviation;  // it may underflow
  return false;
}

void require_memory(const NamedRows& rows, std::span<const PlacedColumn> columns,
                    std::int64_t features, std::int64_t samples) {
  constexpr std::int64_t kMostFeatures = std::int64_t{1} << 30;  // 4 GiB
  if (features <= kMostFeatures / samples) return;
  const auto widest = std::ranges::max_element(
      columns, {}, [](const PlacedColumn& column) { return column.is.features(); });
  bad_file(rows.name, "has " + with_separators(features) + " features in each of " +
                          with_separators(samples) + " rows, more than 4 GiB; column '" +
                          widest->is.name + "' has " + with_separators(widest->is.features()) +
                          " of them: name it in 'ignore' of 'columns', or give it fewer "
                          "categories");
}

}  // namespace

bool lacks_value(const SeparatedRow& row, const PlacedColumn& column) {
  return has_no_value(cell_of(row, column), column.is.categorical);
}

void fit(PlacedColumn& column, const NamedRows& rows, std::span<const std::int64_t> training,
         const CellRules& rules, const std::function<void(const std::string&)>& warn) {
  const Cells cells(rows, rules);
  std::vector<double> numbers;
  std::vector<std::string>& categories = column.is.categories;
  for (const std::int64_t row : training) {
    if (!column.is.categorical) {
      if (const auto number = cells.number(row, column)) numbers.push_back(*number);
    } else if (const std::string_view cell = cells.text(row, column); !cell.empty()) {
      categories.emplace_back(cell);
    }
  }
  std::ranges::sort(categories);
  categories.erase(std::ranges::unique(categories).begin(), categories.end());
  if (numbers.empty() && categories.empty()) {
    bad_file(rows.name, "has no value in column '" + column.is.name +
                            "' of the training split; name it in 'ignore' of 'columns'");
  }
  if (column.is.categorical || !fit_numbers(column.is, numbers)) return;
  warn("'" + rows.name + "': column '" + column.is.name +
       "' has the same value in all rows of the training split, which tells nothing");
}

std::vector<float> features_of(const NamedRows& rows, std::span<const PlacedColumn> columns,
                               std::span<const std::int64_t> which, const CellRules& rules) {
  std::int64_t features = 0;
  for (const PlacedColumn& column : columns) features += column.is.features();
  require_memory(rows, columns, features, std::ssize(which));
  const Cells cells(rows, rules);
  std::vector<float> values(static_cast<std::size_t>(features * std::ssize(which)));
  std::span<float> rest = values;
  for (const std::int64_t row : which) {
    for (const PlacedColumn& column : columns) {
      const auto encode = column.is.categorical ? &Cells::encode_category : &Cells::encode_number;
      const auto each = static_cast<std::size_t>(column.is.features());
      (cells.*encode)(row, column, rest.first(each));
      rest = rest.subspan(each);
    }
  }
  return values;
}

void declare(config::Fields& fields, MissingCells& missing) {
  fields.field("rule", missing.rule,
               "error; mean: a number is the mean of the training split; drop: the row is left "
               "out");
  fields.field("value", missing.value, "instead of a rule: a number without a value is this one",
               {.minimum = -1e30, .maximum = 1e30});
}

void declare_cell_rules(config::Fields& fields, CellRules& rules) {
  fields.field("missing", rules.missing,
               "cells without a value: error, mean, drop or {value: NUMBER}");
  fields.field("unknown", rules.unknown,
               "categories that the training split does not have: error, or ignore, with which a "
               "row has none");
}

}  // namespace trainyard
