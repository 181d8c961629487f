// A CSV table that grows by whole rows: LF, decimal points, quotes only where text needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/filesystem.h"

namespace trainyard {

/// Builds a row: fields joined by commas. Numbers have the fewest digits that read back to the same
/// value; a field that was not measured is empty.
class CsvRow {
 public:
  CsvRow& add(std::int64_t value);
  CsvRow& add(double value);
  CsvRow& add(const std::optional<double>& value);
  CsvRow& add(std::string_view name);
  /// Any text, quoted if needed.
  CsvRow& add_text(std::string_view text);
  /// With at most `decimals` digits after the point: for times, whose further digits are noise.
  CsvRow& add_rounded(double value, int decimals);
  CsvRow& add_rounded(const std::optional<double>& value, int decimals);
  /// With the line feed.
  [[nodiscard]] std::string text() const { return text_ + "\n"; }
  /// The number in each field, if it has one.
  [[nodiscard]] const std::vector<std::optional<double>>& values() const { return values_; }

 private:
  CsvRow& put(std::string_view text, const std::optional<double>& value);

  std::string text_;
  std::vector<std::optional<double>> values_;
};

/// The rows of `text` that a run resumed after `last_key` may keep, header included: their first
/// column increases and is at most `last_key`; later rows and an incomplete last line are cut.
/// Throws Error{checkpoint} with the position in `source` if the first line is another header or a
/// damaged one, or if a line before the row `last_key` is not a row.
[[nodiscard]] std::string kept_rows(std::string_view text, std::string_view header,
                                    std::int64_t last_key, const std::string& source);

/// The numbers from 1 to `last_key` that no row of `kept` begins with, "2 to 4, 7"; "" if there are
/// none.
[[nodiscard]] std::string missing_rows(std::string_view kept, std::int64_t last_key);

/// A CSV file with fixed columns, the first of which counts from 1.
class CsvFile {
 public:
  /// Opens `path` for a run that continues after `last_key` (0: from the start): later rows and an
  /// incomplete last line are cut (temporary file, rename), a missing file gets its header. Throws
  /// Error{disk}, and Error{checkpoint} as kept_rows(). `disk` must outlive it.
  CsvFile(const Disk& disk, const fs::path& path, const std::vector<std::string>& columns,
          std::int64_t last_key);

  /// One write(2). The row must have as many fields as there are columns.
  void append(const CsvRow& row);
  void sync() { file_->sync(); }
  /// Rows up to the resume point that the file did not have; see missing_rows().
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  int columns_ = 0;
  std::string missing_;
  std::optional<AppendFile> file_;
};

}  // namespace trainyard
