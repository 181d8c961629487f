#include "data/sets/table_rows.h"

#include <span>
#include <utility>

#include "base/faults.h"

namespace trainyard {

namespace {

/// Throws Error{data} for a row that training leaves out.
void require_values(const NamedRows& rows, const SeparatedRow& row,
                    const std::vector<PlacedColumn>& columns) {
  for (const PlacedColumn& column : columns) {
    if (!lacks_value(row, column)) continue;
    rows.bad_cell(row, column.place,
                  "has no value, and the run's 'missing: drop' leaves such rows out; correct it, "
                  "or predict with --set data.train.missing=mean");
  }
}

}  // namespace

std::vector<FeatureRow> table_rows(const TableForm& form, const CellRules& rules,
                                   const NamedRows& rows) {
  std::vector<PlacedColumn> columns;
  for (const FeatureColumn& column : form.columns) {
    columns.push_back({rows.column(column.name, "the run's features are made of it"), column});
  }
  const bool drops = rules.missing.rule == MissingRule::drop && !rules.missing.value;
  std::vector<FeatureRow> all;
  for (std::int64_t i = 0; i < std::ssize(rows.rows); ++i) {
    const SeparatedRow& row = rows.rows[static_cast<std::size_t>(i)];
    FeatureRow made{.line = row.line};
    made.fault = fault_in([&] {
      rows.require_cells(row);
      if (drops) require_values(rows, row, columns);
      made.features = features_of(rows, columns, std::span(&i, 1), rules);
    });
    all.push_back(std::move(made));
  }
  return all;
}

RowsOptions rows_like(RowsOptions options, const std::filesystem::path& file) {
  options.ragged = true;
  const bool tabs = file.extension() == ".tsv", had_tabs = options.separator == Separator::tab;
  if (tabs == had_tabs || (!tabs && file.extension() != ".csv")) return options;
  options.separator = tabs ? Separator::tab : Separator::comma;
  options.quotes = {};
  return options;
}

}  // namespace trainyard
