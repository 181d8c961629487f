// Columns of a file of rows that are fields of its samples: targets and weights.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/sets/labelled_rows.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/table_features.h"

namespace trainyard {

/// A field of the samples. Its numbers are those of its columns, one each, or 1 for the words that
/// a cell has and 0 for others.
struct TargetColumn {
  std::vector<std::string> columns;   // {"float"}: that of the field's name, standardised
  std::optional<std::string> column;  // in place of `columns`: one
  std::optional<std::string> split;   // what divides the words of a cell; empty: numbers
  bool standardize = false;

  /// The columns of the field `name`.
  [[nodiscard]] std::vector<std::string> names(const std::string& name) const;
  /// Whether that is a `float`.
  [[nodiscard]] bool is_float() const;
};
void declare(config::Fields& fields, TargetColumn& target);

/// By the names of the fields.
using TargetColumns = std::vector<std::pair<std::string, TargetColumn>>;
/// Declares the further keys of `columns`, after its own ones; `label` is the column of the labels,
/// which may be left out if there is a field. Describes both.
void declare_targets(config::Fields& fields, const std::string& label, TargetColumns& targets);

/// The fields that the columns of a file make.
class Targets {
 public:
  /// Throws Error{data} for a column that `rows` does not have.
  Targets(const TargetColumns& targets, const NamedRows& rows);

  /// Whether a row lacks its label, in the column `label` if there is one, or a number. A cell
  /// without words has none of them.
  [[nodiscard]] bool lacks_value(const SeparatedRow& row, std::optional<std::size_t> label) const;
  /// Takes means, deviations and words of the opening's form, else finds them in the rows
  /// `training`. Throws Error{data} with line and column, as fields().
  void fit(const NamedRows& rows, std::span<const std::int64_t> training, const Opening& opening);
  /// The fields of the rows `which`, f32. Throws Error{data} with line and column: no value, text
  /// among numbers, a word that the training split does not have.
  [[nodiscard]] std::vector<MemoryField> fields(const NamedRows& rows,
                                                std::span<const std::int64_t> which) const;

 private:
  struct Target {
    SampleField field;
    std::vector<PlacedColumn> columns;
    std::string split;  // "": numbers
    bool standardize = false;
  };
  static void fit(Target& target, const NamedRows& rows, std::span<const std::int64_t> training,
                  const Opening& opening);
  static void follow(Target& target, const std::vector<SampleField>& fields,
                     const std::string& name);

  std::vector<Target> targets_;
};

}  // namespace trainyard
