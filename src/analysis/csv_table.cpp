#include "analysis/csv_table.h"

#include <algorithm>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {

namespace {

constexpr std::uint64_t kMostTableBytes = std::uint64_t{4} << 30;

/// A field as a number; `place` is for the message about one that is none.
std::optional<double> number_of(const std::string& field, const std::string& place) {
  if (field.empty() || field == "nan" || field == "inf" || field == "-inf") return std::nullopt;
  const auto number = parse_real(field);
  if (number) return number;
  throw Error(ErrorKind::data, place + ": expected a number, found '" + shortened(field) +
                                   "'; fix or remove the line");
}

}  // namespace

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::vector<std::optional<double>> CsvTable::values(std::string_view column) const {
  std::vector<std::optional<double>> values;
  const auto index = find(column);
  if (!index) return values;
  for (const auto& row : rows) values.push_back(row[*index]);
  return values;
}

CsvTable read_csv_table(const std::filesystem::path& path) {
  CsvTable table;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return table;
  std::vector<std::string> lines = split(read_text(path, ErrorKind::data, kMostTableBytes), '\n');
  lines.pop_back();  // what follows the last line feed
  if (lines.empty()) return table;
  table.columns = split(lines[0], ',');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string place = path.string() + ":" + std::to_string(i + 1) + ":1";
    const std::vector<std::string> fields = split(lines[i], ',');
    if (fields.size() != table.columns.size()) {
      throw Error(ErrorKind::data, place + ": expected " + std::to_string(table.columns.size()) +
                                       " fields, as the first line has, found " +
                                       std::to_string(fields.size()) + "; fix or remove the line");
    }
    auto& row = table.rows.emplace_back();
    for (const std::string& field : fields) row.push_back(number_of(field, place));
  }
  return table;
}

}  // namespace trainyard
