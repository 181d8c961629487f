// What the cells of a column are, and what a network can learn from them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "data/sets/target_columns.h"

namespace trainyard {

/// What the cells of a column are.
struct ColumnFacts {
  std::int64_t values = 0;   // cells that have one
  std::int64_t missing = 0;  // cells without
  std::int64_t numbers = 0;
  std::int64_t words = 0;           // of all cells
  std::set<std::string> different;  // values
  bool whole = true;                // all numbers are
  bool counts = true;               // the rows: 0, 1, 2, ... or 1, 2, 3, ...

  [[nodiscard]] bool numeric() const { return numbers == values && values > 0; }
  /// Texts of several words that mostly differ.
  [[nodiscard]] bool phrases() const;
  /// At most 100 different values, each about twice.
  [[nodiscard]] bool few() const;
};
/// Rows that are too short do not count.
[[nodiscard]] ColumnFacts facts_of(std::span<const SeparatedRow> rows, std::size_t column);
[[nodiscard]] std::int64_t words_of(std::string_view text);

/// The index of the first column, but `except`, whose name says that it has classes: label, class,
/// species, ..., in any case; empty: none has.
[[nodiscard]] std::optional<std::size_t> named_label(std::span<const std::string> columns,
                                                     std::optional<std::size_t> except = {});
/// Numbers from 0 without a gap are classes as they are; everything else is a name. Rows that are
/// too short do not count.
[[nodiscard]] ListLabels labels_in(std::span<const SeparatedRow> rows, std::size_t column);

/// What a network learns from a column.
struct Answer {
  enum class Kind {
    classes,
    number,  // real numbers, or more than 20 different whole ones that do not count from 0
    words,   // several of at most 100 in a cell, divided by ';' or '|'
  };
  Kind kind = Kind::classes;
  /// The field of `columns`, under the column's name if a key can have it.
  std::pair<std::string, TargetColumn> target = {};
};
[[nodiscard]] Answer answer_in(std::span<const SeparatedRow> rows, std::size_t column,
                               const std::string& name);
/// The outputs of a network that learns it: classes, or the numbers of the field.
[[nodiscard]] std::int64_t outputs_of(const Dataset& set, const Answer& answer);

}  // namespace trainyard
