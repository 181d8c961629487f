// Tables of numbers and categories: a CSV or TSV file with a sample in each row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/sets/labelled_rows.h"
#include "data/sets/source.h"
#include "data/sets/table_features.h"
#include "data/sets/target_columns.h"

namespace trainyard {

/// What the columns of a table are, by their names.
struct TableColumns {
  std::string label;                 // "": rows have none
  std::vector<std::string> numeric;  // empty: all that are not named here
  std::vector<std::string> categorical;
  std::vector<std::string> ignore;
  TargetColumns targets;
};
void declare(config::Fields& fields, TableColumns& columns);

struct TableOptions : SourceOptions, RowsOptions, LabelOptions, CellRules {
  static constexpr std::string_view kName = "table";
  TableColumns columns;
};
void declare(config::Fields& fields, TableOptions& options);

/// The rows of a table whose first line names its columns, as vectors of features, the map
/// [features, 1, 1], with classes. What columns are is the opening's form, else that of these rows,
/// of a part that of the training part. A constant column and rows left out are warnings. Throws
/// Error{data} for a column that is missing or of another kind than in the form; Error{config} for
/// one that is named twice. As read_rows(), labelled_rows(), fit() and features_of().
[[nodiscard]] DatasetPtr open_table(const TableOptions& options, const Opening& opening = {},
                                    const std::optional<RowsPart>& part = {});

}  // namespace trainyard
