#include "run/csv_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {

namespace {

constexpr std::uint64_t kMostCsvBytes = std::uint64_t{4} << 30;

std::string header_of(const std::vector<std::string>& columns) { return joined(columns, ","); }

std::int64_t fields_of(std::string_view line) {
  return 1 + std::count(line.begin(), line.end(), ',');
}

}  // namespace

void CsvRow::separate() {
  if (fields_++ > 0) text_ += ',';
}

CsvRow& CsvRow::add(std::int64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

CsvRow& CsvRow::add(double value) {
  separate();
  text_ += number_text(value);
  return *this;
}

CsvRow& CsvRow::add(const std::optional<double>& value) {
  if (value) return add(*value);
  separate();
  return *this;
}

CsvRow& CsvRow::add(std::string_view name) {
  TY_CHECK(name.find_first_of(",\"\r\n") == std::string_view::npos, "a CSV name is one plain word");
  separate();
  text_ += name;
  return *this;
}

CsvRow& CsvRow::add_rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return add(std::isfinite(value) ? std::round(value * scale) / scale : value);
}

CsvRow& CsvRow::add_rounded(const std::optional<double>& value, int decimals) {
  return value ? add_rounded(*value, decimals) : add(value);
}

std::string kept_rows(std::string_view text, std::string_view header, std::int64_t last_key,
                      const std::string& source) {
  std::string kept = std::string(header) + "\n";
  const std::size_t first_end = text.find('\n');
  if (first_end == std::string_view::npos) return kept;  // not even a whole header
  const std::string_view first = text.substr(0, first_end);
  if (first != header) {
    throw Error(ErrorKind::checkpoint, source + ":1:1: its columns are '" + std::string(first) +
                                           "', this run's are '" + std::string(header) +
                                           "'; resume with the settings that the run began with");
  }
  std::int64_t previous = 0;
  text.remove_prefix(first_end + 1);
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    const auto key = parse_integer(line.substr(0, line.find(',')));
    if (!key || *key <= previous || *key > last_key || fields_of(line) != fields_of(header)) break;
    kept += line;
    kept += '\n';
    previous = *key;
  }
  return kept;
}

CsvFile::CsvFile(const Disk& disk, const std::filesystem::path& path,
                 const std::vector<std::string>& columns, std::int64_t last_key)
    : columns_(static_cast<int>(columns.size())) {
  std::error_code ignored;
  std::string text;
  if (std::filesystem::exists(path, ignored)) {
    text = read_text(path, ErrorKind::disk, kMostCsvBytes);
  }
  const std::string kept = kept_rows(text, header_of(columns), last_key, path.string());
  if (kept != text) disk.replace_file(path, kept);
  file_.emplace(disk, path);
}

void CsvFile::append(const CsvRow& row) {
  TY_CHECK(row.fields() == columns_, "a row has a field for each column");
  file_->append(row.text());
}

}  // namespace trainyard
