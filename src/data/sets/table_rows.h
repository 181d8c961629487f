// Rows of a table without labels, as features that are fixed already.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sets/table_features.h"

namespace trainyard {

/// A row, at this line.
struct FeatureRow {
  std::int64_t line = 0;
  std::string fault = {};            // why it has no features, a message; "": it has them
  std::vector<float> features = {};  // [TableForm::features()]
};

/// The features of each row of a file that has the columns of `form`, in any order and among
/// others. A row whose cells `rules` refuse, or would drop, has a fault. Throws Error{data} for a
/// column that is missing.
[[nodiscard]] std::vector<FeatureRow> table_rows(const TableForm& form, const CellRules& rules,
                                                 const NamedRows& rows);

/// How another file is written than the one of these options: as that, but a file named .tsv with
/// tabs, and one named .csv without; with ragged rows.
[[nodiscard]] RowsOptions rows_like(RowsOptions options, const std::filesystem::path& file);

}  // namespace trainyard
