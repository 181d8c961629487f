// Rows of separated text: CSV (RFC 4180) and its relatives.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "config/fields.h"

namespace trainyard {

enum class Separator {
  comma,      // cells may be quoted: "a, ""b"""
  semicolon,  // likewise
  tab,        // without quotes unless they are asked for
  space,      // two cells, divided by the last space of the line; no quotes
};
[[nodiscard]] constexpr config::Words<Separator> words(Separator) {
  return {"comma", "semicolon", "tab", "space"};
}

struct SeparatedRow {
  std::int64_t line = 0;  // from 1: where it begins
  std::vector<std::string> cells;
};

/// The rows of a text whose lines end in \n or \r\n, without empty lines and a byte order mark.
/// `name` is the file's, for messages; `quotes`: whether cells may be quoted, empty: as Separator
/// says. Throws Error{data} with the line: a quote that is not closed, text after a closing quote,
/// a zero byte, a line without a space where one divides it.
[[nodiscard]] std::vector<SeparatedRow> separated_rows(std::string_view text, Separator separator,
                                                       const std::string& name,
                                                       std::optional<bool> quotes = {});

/// Throws Error{data}: the file, the line and `what`.
[[noreturn]] void bad_line(const std::string& name, std::int64_t line, const std::string& what);

/// How a file of rows is written.
struct RowsOptions {
  config::FilePath file;
  Separator separator = Separator::comma;
  std::optional<bool> quotes;  // empty: as Separator says
  bool ragged = false;         // rows of another number of cells are kept; no key
};
/// Declares `file`, whose `help` is given, `separator` (tab for a file named .tsv) and `quotes`.
void declare_rows(config::Fields& fields, RowsOptions& options, std::string_view help);

/// Rows under the names of their columns, as many cells in each as there are columns, unless the
/// options let rows be ragged.
struct NamedRows {
  std::string name;  // name of the file, for messages
  std::vector<std::string> columns;
  std::vector<SeparatedRow> rows;  // at least one
  bool quotes = false;             // cells may be quoted

  /// The index of a column. Throws Error{data}, which says what there is, the nearest name and
  /// `advice`, unless exactly one column has this name.
  [[nodiscard]] std::size_t column(const std::string& wanted, const std::string& advice) const;
  /// Throws Error{data} unless the row has a cell for each column.
  void require_cells(const SeparatedRow& row) const;
  /// Throws Error{data}: the file, the row's line, the column and `what`.
  [[noreturn]] void bad_cell(const SeparatedRow& row, std::size_t column,
                             const std::string& what) const;
};

/// Leaves out the rows that lack a value, with a warning of their number. Returns the indices of
/// the others. Throws Error{data} if none remains.
std::vector<std::int64_t> drop_rows(NamedRows& rows,
                                    const std::function<bool(const SeparatedRow&)>& lacks,
                                    const std::function<void(const std::string&)>& warn);

/// The rows of a text. `columns` are their names; empty: the first row has them. Throws Error{data}
/// as separated_rows(), and for rows of another number of cells or a text without rows.
[[nodiscard]] NamedRows named_rows(std::string_view text, const RowsOptions& options,
                                   const std::string& name, std::vector<std::string> columns = {});
/// Rows of a file of at most 1 GiB, of UTF-8 text unless `any_bytes`, as named_rows().
[[nodiscard]] NamedRows read_rows(const fs::path& file, const RowsOptions& options,
                                  std::vector<std::string> columns = {}, bool any_bytes = false);

}  // namespace trainyard
