#include "report/csv_file.h"

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

std::optional<std::int64_t> key_of(std::string_view line) {
  return parse_integer(line.substr(0, line.find(',')));
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
    return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  });
}

/// True if `first` may be another run's header: plain names, as many as `row` has fields.
bool is_other_header(std::string_view first, std::string_view header, std::string_view row) {
  const std::vector<std::string> names = split(first, ',');
  return first.substr(0, first.find(',')) == header.substr(0, header.find(',')) &&
         (row.empty() || fields_of(row) == fields_of(first)) &&
         std::all_of(names.begin(), names.end(), is_plain_name);
}

/// The beginning of a line, for a message.
std::string shown(std::string_view line) {
  constexpr std::size_t kMostLetters = 300;
  std::string text;
  for (const char letter : line.substr(0, kMostLetters)) {
    text += letter >= ' ' && letter < 127 ? letter : '?';
  }
  return "'" + text + (line.size() > kMostLetters ? "...'" : "'");
}

[[noreturn]] void refuse_header(std::string_view first, std::string_view header,
                                std::string_view row, const std::string& source) {
  const std::string place = source + ":1:1: its ";
  if (is_other_header(first, header, row)) {
    throw checkpoint_error(place + "columns are " + shown(first) + ", this run's are " +
                           shown(header) + "; resume with the settings that the run began with");
  }
  throw checkpoint_error(place + "header is damaged: found " + shown(first) + ", expected " +
                         shown(header) + "; restore that line, or move the file away, then resume");
}

[[noreturn]] void refuse_row(std::string_view line, std::string_view header, std::int64_t previous,
                             const std::string& place) {
  throw checkpoint_error(place + ": this is not a row of the table: found " + shown(line) +
                         ", expected " + std::to_string(fields_of(header)) +
                         " fields, the first a number above " + std::to_string(previous) +
                         "; remove or fix the line, or move the file away, then resume");
}

}  // namespace

CsvRow& CsvRow::put(std::string_view text, const std::optional<double>& value) {
  if (!values_.empty()) text_ += ',';
  text_ += text;
  values_.push_back(value);
  return *this;
}

CsvRow& CsvRow::add(std::int64_t value) {
  return put(std::to_string(value), static_cast<double>(value));
}

CsvRow& CsvRow::add(double value) { return put(number_text(value), value); }

CsvRow& CsvRow::add(const std::optional<double>& value) {
  return value ? add(*value) : put("", {});
}

CsvRow& CsvRow::add(std::string_view name) {
  TY_CHECK(name.find_first_of(",\"\r\n") == std::string_view::npos, "a CSV name is one plain word");
  return put(name, {});
}

CsvRow& CsvRow::add_text(std::string_view text) { return put(csv_quoted(text), {}); }

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
  if (header.starts_with(text)) return kept;  // not even a whole header
  const std::string_view first = text.substr(0, first_end);
  text.remove_prefix(std::min(text.size(), first.size() + 1));
  if (first != header) refuse_header(first, header, text.substr(0, text.find('\n')), source);
  std::int64_t previous = 0, number = 2;
  for (std::size_t end; previous < last_key && (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1), ++number) {
    const std::string_view line = text.substr(0, end);
    const auto key = key_of(line);
    if (!key || *key <= previous || fields_of(line) != fields_of(header)) {
      refuse_row(line, header, previous, source + ":" + std::to_string(number) + ":1");
    }
    if (*key > last_key) break;
    kept += line;
    kept += '\n';
    previous = *key;
  }
  return kept;
}

std::string missing_rows(std::string_view kept, std::int64_t last_key) {
  std::vector<std::string> gaps;
  std::int64_t previous = 0;
  const auto reach = [&](std::int64_t key) {
    const std::int64_t first = previous + 1, last = key - 1;
    if (first == last) gaps.push_back(std::to_string(first));
    if (first < last) gaps.push_back(std::to_string(first) + " to " + std::to_string(last));
    previous = key;
  };
  for (std::size_t end; (end = kept.find('\n')) != std::string_view::npos;
       kept.remove_prefix(end + 1)) {
    if (const auto key = key_of(kept.substr(0, end))) reach(*key);
  }
  reach(last_key + 1);
  return joined(gaps, ", ");
}

CsvFile::CsvFile(const Disk& disk, const fs::path& path, const std::vector<std::string>& columns,
                 std::int64_t last_key)
    : columns_(static_cast<int>(columns.size())) {
  std::error_code ignored;
  std::string text;
  if (fs::exists(path, ignored)) {
    text = read_text(path, ErrorKind::disk, kMostCsvBytes);
  }
  const std::string kept = kept_rows(text, header_of(columns), last_key, path.string());
  missing_ = missing_rows(kept, last_key);
  if (kept != text) disk.replace_file(path, kept);
  file_.emplace(disk, path);
}

void CsvFile::append(const CsvRow& row) {
  TY_CHECK(std::ssize(row.values()) == columns_, "a row has a field for each column");
  file_->append(row.text());
}

}  // namespace trainyard
