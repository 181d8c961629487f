#include "bench/suite.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/sets/separated_rows.h"

namespace trainyard {
namespace {

/// A row of a suite's file by the names of its columns.
class SuiteRow {
 public:
  SuiteRow(const std::string& file, const SeparatedRow& names, const SeparatedRow& row)
      : file_(file), line_(row.line) {
    if (row.cells.size() != names.cells.size()) refuse("has another number of cells than line 1");
    for (std::size_t i = 0; i < row.cells.size(); ++i) cells_[names.cells[i]] = row.cells[i];
  }
  [[nodiscard]] const std::string& text(const std::string& column) const {
    const auto found = cells_.find(column);
    if (found == cells_.end()) refuse("has no column '" + column + "'");
    return found->second;
  }
  template <class Number>
  [[nodiscard]] Number above_zero(const std::string& column) const {
    const std::string& cell = text(column);
    Number value{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0)) {
      refuse(column + ": '" + cell + "' is not a number above 0");
    }
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::config, file_ + ":" + std::to_string(line_) + ": " + what);
  }

  const std::string& file_;
  std::int64_t line_;
  std::map<std::string, std::string> cells_;
};

/// Of rank 0: "AMD EPYC, 2 threads".
std::string hardware_of(const ScalingRow& row) {
  constexpr std::string_view kCpu = "CPU";
  const RankMeasurement& rank = row.by_rank.front();
  const std::string& text = rank.device_text;
  const bool named = text.starts_with(kCpu) && !rank.processor.empty();
  return named ? rank.processor + text.substr(kCpu.size()) : text;
}

}  // namespace

std::string place_text(const SuitePlace& place) {
  if (place.gpus) return count_text(place.ranks, "GPU");
  return place.ranks == 1 ? "CPU" : std::to_string(place.ranks) + " CPU ranks";
}

std::vector<SuiteLine> read_suite(const std::filesystem::path& file) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const std::string name = file.string();
  const std::vector<SeparatedRow> rows =
      separated_rows(read_text(file, ErrorKind::config, kMostBytes), Separator::comma, name);
  std::vector<SuiteLine> lines;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const SuiteRow row(name, rows.front(), rows[i]);
    lines.push_back(
        {.row = row.text("row"),
         .config = row.text("config"),
         .by = row.text("by"),
         .hardware = row.text("hardware"),
         .place = {.ranks = row.above_zero<int>("ranks"), .gpus = row.text("device") == "gpu"},
         .inference = row.text("task") == "inference",
         .batch = row.above_zero<std::int64_t>("batch"),
         .rate = row.above_zero<double>("images_per_s"),
         .versions = row.text("versions"),
         .source = row.text("source")});
  }
  return lines;
}

SuiteLine our_line(SuiteLine line, const std::string& version,
                   const std::optional<ScalingRow>& measured) {
  line.by = "train";
  line.versions = version;
  line.ours = measured;
  if (!measured) return line;
  line.rate = measured->images_per_second;
  line.hardware = hardware_of(*measured);
  line.versions += ", " + measured->by_rank.front().libraries;
  return line;
}

std::vector<SuiteLine> with_published(const std::vector<SuiteLine>& ours,
                                      const std::vector<SuiteLine>& published) {
  std::vector<SuiteLine> lines;
  for (auto next = ours.begin(); next != ours.end();) {
    const SuiteLine& first = *next;
    const auto begin = std::ssize(lines);
    std::string unit;
    for (; next != ours.end() && next->config == first.config; ++next) {
      lines.push_back(*next);
      if (!next->unit.empty()) unit = next->unit;
    }
    for (const SuiteLine& line : published) {
      if (line.config != first.config || line.inference != first.inference) continue;
      lines.push_back(line);
      lines.back().unit = unit;
    }
    std::ranges::stable_sort(lines.begin() + begin, lines.end(), {}, [](const SuiteLine& line) {
      return std::pair(line.place.gpus, line.place.ranks);
    });
  }
  return lines;
}

}  // namespace trainyard
