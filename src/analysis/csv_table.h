// The tables of a run read back: metrics.csv, steps.csv.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// A table of numbers. What was not measured, and "nan" and "inf", are empty.
struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<double>>> rows;  // [row][column]

  /// The index of a column; empty if the table lacks it, as that of an older version may.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view column) const;
  /// The values of a column from the first row to the last; none if the table lacks it.
  [[nodiscard]] std::vector<std::optional<double>> values(std::string_view column) const;
};

/// Reads a table that another process may be writing: an incomplete last line is left out. A
/// missing or empty file is a table without columns. Throws Error{data} with the position of a
/// line that is no row of the table, or if the file cannot be read.
[[nodiscard]] CsvTable read_csv_table(const std::filesystem::path& path);

}  // namespace trainyard
