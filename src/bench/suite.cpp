#include "bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/sets/separated_rows.h"
#include "report/csv_file.h"

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
    throw config_error(file_ + ":" + std::to_string(line_) + ": " + what);
  }

  const std::string& file_;
  std::int64_t line_;
  std::map<std::string, std::string> cells_;
};

/// Hardware of rank 0: "AMD EPYC, 2 threads".
std::string hardware_of(const ScalingRow& row) {
  constexpr std::string_view kCpu = "CPU";
  const RankMeasurement& rank = row.by_rank.front();
  const std::string& text = rank.device_text;
  const bool named = text.starts_with(kCpu) && !rank.processor.empty();
  return named ? rank.processor + text.substr(kCpu.size()) : text;
}

std::string task_of(const SuiteLine& line) { return line.inference ? "inference" : "training"; }

std::string state_of(const SuiteLine& line) {
  if (!line.rate) return "not measured";
  return line.ours ? "measured" : "published";
}

/// Over one rank on such a device, by the same program; empty without either rate.
std::optional<double> speed_up(std::span<const SuiteLine> lines, const SuiteLine& line) {
  const auto one = std::ranges::find_if(lines, [&](const SuiteLine& other) {
    return other.config == line.config && other.by == line.by &&
           other.place.gpus == line.place.gpus && other.place.ranks == 1 && other.rate;
  });
  if (one == lines.end() || !line.rate || line.place.ranks == 1) return std::nullopt;
  return *line.rate / *one->rate;
}

/// "12.3", "1068", "-".
std::string short_rate(const std::optional<double>& rate) {
  if (!rate) return "-";
  return *rate < 99.95 ? fmt::format("{:.1f}", *rate) : fmt::format("{:.0f}", *rate);
}

/// A reason up to what to do about it, which is in the CSV.
std::string brief(const std::string& reason) { return reason.substr(0, reason.find("; ")); }

/// The heading of a row's lines.
std::string heading(const SuiteLine& line) {
  const std::string unit = line.unit.empty() ? "samples" : line.unit;
  return fmt::format("{} ({}), {}/s, {}\n", line.row, line.config, unit, task_of(line));
}

/// By which programs the report's rates were published, in which versions.
std::string publishers(const SuiteReport& report) {
  const auto found =
      std::ranges::find_if_not(report.lines, &std::string::empty, &SuiteLine::source);
  return found == report.lines.end() ? "nobody" : found->versions;
}

}  // namespace

std::string place_text(const SuitePlace& place) {
  if (place.gpus) return count_text(place.ranks, "GPU");
  return place.ranks == 1 ? "CPU" : std::to_string(place.ranks) + " CPU ranks";
}

std::vector<SuiteLine> read_suite(const fs::path& file) {
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

std::string suite_table(const SuiteReport& report) {
  std::string text = report.name + ": published by " + publishers(report) + "\n";
  std::string config;
  SuitePlace place;
  for (const SuiteLine& line : report.lines) {
    const bool begins = line.config != config || line.place != place;
    if (line.config != config) text += "\n" + heading(line);
    config = line.config;
    place = line.place;
    text += fmt::format("  {:<12} {:<17} {:>9}  {}\n", begins ? place_text(place) : "", line.by,
                        short_rate(line.rate),
                        line.rate ? line.hardware : "not measured: " + brief(line.reason));
  }
  return text;
}

std::string suite_csv(const SuiteReport& report) {
  std::string text =
      "suite,row,config,task,by,hardware,device,ranks,batch,images_per_s,low,high,speedup,unit,"
      "step_ms,data_ms,compute_ms,communication_ms,versions,source,state,reason\n";
  for (const SuiteLine& line : report.lines) {
    const auto measured = [&](double value) {
      return line.ours ? std::optional(value) : std::nullopt;
    };
    const ScalingRow row = line.ours.value_or(ScalingRow{});
    CsvRow csv;
    csv.add_text(report.name).add_text(line.row).add_text(line.config);
    csv.add_text(task_of(line)).add_text(line.by).add_text(line.hardware);
    csv.add_text(line.place.gpus ? "gpu" : "cpu").add(std::int64_t{line.place.ranks});
    csv.add_text(line.batch > 0 ? std::to_string(line.batch) : "").add_rounded(line.rate, 3);
    csv.add_rounded(measured(row.low), 3).add_rounded(measured(row.high), 3);
    csv.add_rounded(speed_up(report.lines, line), 3).add_text(line.unit);
    for (const double part :
         {row.parts.step, row.parts.data, row.parts.compute, row.parts.communication}) {
      csv.add_rounded(measured(part), 5);
    }
    csv.add_text(line.versions).add_text(line.source).add_text(state_of(line));
    text += csv.add_text(line.reason).text();
  }
  return text;
}

std::string suite_json(const SuiteReport& report) {
  std::string text;
  for (const SuiteLine& line : report.lines) {
    Json json{{"suite", report.name},
              {"row", line.row},
              {"config", line.config},
              {"task", task_of(line)},
              {"by", line.by},
              {"hardware", line.hardware},
              {"device", line.place.gpus ? "gpu" : "cpu"},
              {"ranks", line.place.ranks},
              {"batch", line.batch > 0 ? Json(line.batch) : Json()},
              {"images_per_s", number_or_null(line.rate)},
              {"speedup", number_or_null(speed_up(report.lines, line))},
              {"unit", line.unit},
              {"versions", line.versions},
              {"state", state_of(line)},
              {"reason", line.reason}};
    if (line.ours) {
      json["low"] = line.ours->low;
      json["high"] = line.ours->high;
      json["step_ms"] = line.ours->parts.step;
    }
    text += json_line(json);
  }
  return text;
}

}  // namespace trainyard
