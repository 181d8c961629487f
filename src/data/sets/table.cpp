#include "data/sets/table.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "data/sets/memory_dataset.h"

namespace trainyard {

namespace {

enum class Role { none, label, target, numeric, categorical };

/// The role of each column.
std::vector<Role> roles_of(const TableColumns& columns, const NamedRows& rows) {
  std::vector<std::optional<Role>> roles(rows.columns.size());
  const auto give = [&](const std::vector<std::string>& names, const char* key, Role role) {
    for (const std::string& name : names) {
      std::optional<Role>& own = roles[rows.column(
          name, "'columns." + std::string(key) + "' names a column of the first line")];
      if (own) {
        throw config_error("'columns' of the table '" + rows.name + "' names '" + name + "' twice");
      }
      own = role;
    }
  };
  if (!columns.label.empty()) give({columns.label}, "label", Role::label);
  for (const auto& [name, target] : columns.targets) {
    give(target.names(name), name.c_str(), Role::target);
  }
  give(columns.numeric, "numeric", Role::numeric);
  give(columns.categorical, "categorical", Role::categorical);
  give(columns.ignore, "ignore", Role::none);
  std::vector<Role> all;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const bool numeric = columns.numeric.empty();
    if (!roles[i] && numeric && rows.columns[i].empty()) {
      bad_file(rows.name, "has no name for column " + std::to_string(i + 1) +
                              "; name it in the first line, or leave it out with 'ignore: [\"\"]' "
                              "of 'columns'");
    }
    all.push_back(roles[i].value_or(numeric ? Role::numeric : Role::none));
  }
  return all;
}

/// The columns of features that the roles give, in the order of the file.
std::vector<PlacedColumn> own_columns(const std::vector<Role>& roles, const NamedRows& rows) {
  std::vector<PlacedColumn> columns;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != Role::numeric && roles[i] != Role::categorical) continue;
    const bool categorical = roles[i] == Role::categorical;
    const std::size_t place = rows.column(rows.columns[i], "");  // throws if another has its name
    columns.push_back(
        {place, {.name = rows.columns[i], .categorical = categorical, .categories = {}}});
  }
  if (columns.empty()) bad_file(rows.name, "has no columns of features: 'columns' leaves none");
  return columns;
}

/// The columns of the training split, which these rows must have too.
std::vector<PlacedColumn> columns_of_form(const TableForm& form, const std::vector<Role>& roles,
                                          const NamedRows& rows) {
  std::vector<PlacedColumn> columns;
  for (const FeatureColumn& column : form.columns) {
    const std::size_t place = rows.column(column.name, "the training split has this column");
    const Role role = column.categorical ? Role::categorical : Role::numeric;
    if (roles[place] != role) {
      bad_file(rows.name, "has the column '" + column.name + "', which is " +
                              (column.categorical ? "categorical" : "numeric") +
                              " in the training split; name it so in 'columns' here too");
    }
    columns.push_back({place, column});
  }
  return columns;
}

/// Fingerprint of the cells that are read, whatever they are made of.
std::string rows_fingerprint(const LabelledRows& table, std::optional<std::size_t> label,
                             const std::vector<PlacedColumn>& columns,
                             const std::vector<MemoryField>& fields) {
  Hash128 hash;
  const auto update = [&](std::string_view cell) {
    hash.update(std::to_string(cell.size()) + " ");
    hash.update(cell);
  };
  for (const PlacedColumn& column : columns) update(column.is.name);
  for (const std::int64_t index : table.own) {
    const SeparatedRow& row = table.rows.rows[static_cast<std::size_t>(index)];
    if (label) update(row.cells[*label]);
    for (const PlacedColumn& column : columns) update(row.cells[column.place]);
  }
  add_to_hash(hash, fields);
  return hash.hex();
}

/// The form of the columns, which the training rows give.
std::shared_ptr<const TableForm> fitted(std::vector<PlacedColumn>& columns,
                                        const LabelledRows& table, const CellRules& rules,
                                        const Opening& opening) {
  auto form = std::make_shared<TableForm>();
  for (PlacedColumn& column : columns) {
    fit(column, table.rows, table.training, rules, opening.warn);
    form->columns.push_back(column.is);
  }
  return form;
}

}  // namespace

void declare(config::Fields& fields, TableColumns& columns) {
  fields.field("label", columns.label, "the column of the labels; without it rows have none");
  fields.field("numeric", columns.numeric,
               "columns of numbers; without it all columns that are not named here");
  fields.field("categorical", columns.categorical, "columns of categories");
  fields.field("ignore", columns.ignore, "columns that are not read");
  declare_targets(fields, columns.label, columns.targets);
}

void declare(config::Fields& fields, TableOptions& options) {
  declare_rows(fields, options, "the table, a CSV or TSV file whose first line names the columns");
  fields.required("columns", options.columns, "what the columns are, by their names");
  declare_cell_rules(fields, options);
  declare_labels(fields, options);
  declare_common(fields, options);
  if (options.separator == Separator::space) {
    fields.error("separator", "'space' divides no table; use 'comma', 'semicolon' or 'tab'");
  }
}

DatasetPtr open_table(const TableOptions& options, const Opening& opening,
                      const std::optional<RowsPart>& part) {
  NamedRows rows = read_rows(located(options.file), options);
  const std::vector<Role> roles = roles_of(options.columns, rows);
  std::shared_ptr<const TableForm> form = opening.form.table;
  std::vector<PlacedColumn> columns =
      form ? columns_of_form(*form, roles, rows) : own_columns(roles, rows);
  Targets targets(options.columns.targets, rows);
  RowsRequest request{.limit = options.limit, .drop = nullptr, .part = part};
  if (!options.columns.label.empty()) request.label = rows.column(options.columns.label, "");
  if (options.missing.rule == MissingRule::drop && !options.missing.value) {
    request.drop = [&](const SeparatedRow& row) {
      return targets.lacks_value(row, request.label) ||
             std::ranges::any_of(
                 columns, [&](const PlacedColumn& column) { return lacks_value(row, column); });
    };
  }
  const LabelledRows table = labelled_rows(std::move(rows), options, request, opening);
  if (!form) form = fitted(columns, table, options, opening);
  targets.fit(table.rows, table.training, opening);
  std::vector<MemoryField> fields = targets.fields(table.rows, table.own);
  const std::string fingerprint = rows_fingerprint(table, request.label, columns, fields);
  return std::make_unique<MemoryDataset>(
      MemorySamples{.image = {form->features(), 1, 1},
                    .floats = features_of(table.rows, columns, table.own, options),
                    .labels = table.own_labels(),
                    .fields = std::move(fields),
                    .classes = table.labels.classes,
                    .class_names = table.labels.names,
                    .table = form,
                    .fingerprint = fingerprint,
                    .origins = table.own_origins()});
}

}  // namespace trainyard
