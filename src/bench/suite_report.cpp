#include "bench/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "report/csv_file.h"

namespace trainyard {
namespace {

std::string task_of(const SuiteReport& report) {
  return report.inference ? "inference" : "training";
}

/// Of rank 0: "AMD EPYC, 2 threads".
std::string hardware_of(const ScalingRow& row) {
  constexpr std::string_view kCpu = "CPU";
  const RankMeasurement& rank = row.by_rank.front();
  const std::string& text = rank.device_text;
  const bool named = text.starts_with(kCpu) && !rank.processor.empty();
  return named ? rank.processor + text.substr(kCpu.size()) : text;
}

SuiteLine own_line(const SuiteReport& report, const SuiteMeasurement& measurement) {
  SuiteLine line{.row = measurement.row,
                 .by = "train",
                 .place = measurement.place,
                 .unit = measurement.unit,
                 .batch = measurement.batch * measurement.place.ranks,
                 .versions = report.version,
                 .reason = measurement.reason};
  if (!measurement.measured) return line;
  line.ours = &*measurement.measured;
  line.rate = line.ours->images_per_second;
  line.hardware = hardware_of(*line.ours);
  line.versions += ", " + line.ours->by_rank.front().libraries;
  return line;
}

SuiteLine published_line(const SuiteReport& report, const SuiteRow& row, const std::string& unit,
                         const PublishedRate& published) {
  return {.row = &row,
          .by = published.by,
          .hardware = published.hardware,
          .place = published.place,
          .unit = unit,
          .batch = published.batch,
          .rate = published.samples_per_second,
          .versions = report.suite->published};
}

std::string state_of(const SuiteLine& line) {
  if (!line.rate) return "not measured";
  return line.ours == nullptr ? "published" : "measured";
}

/// Over one rank on such a device, by the same program; empty without either rate.
std::optional<double> speed_up(std::span<const SuiteLine> lines, const SuiteLine& line) {
  const auto one = std::ranges::find_if(lines, [&](const SuiteLine& other) {
    return other.row == line.row && other.by == line.by && other.place.gpus == line.place.gpus &&
           other.place.ranks == 1 && other.rate;
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
std::string heading(const SuiteReport& report, const SuiteLine& line) {
  const std::string unit = line.unit.empty() ? "samples" : line.unit;
  return fmt::format("{} ({}), {}/s, {}\n", line.row->name, line.row->config, unit,
                     task_of(report));
}

}  // namespace

std::vector<SuiteLine> suite_lines(const SuiteReport& report) {
  std::vector<SuiteLine> lines;
  for (auto next = report.measurements.begin(); next != report.measurements.end();) {
    const auto first = next;
    const SuiteRow& row = *first->row;
    const std::size_t begin = lines.size();
    std::string unit;
    for (; next != report.measurements.end() && next->row == &row; ++next) {
      lines.push_back(own_line(report, *next));
      if (!next->unit.empty()) unit = next->unit;
    }
    for (const PublishedRate& published : row.published) {
      if (published.inference != report.inference) continue;
      lines.push_back(published_line(report, row, unit, published));
    }
    std::stable_sort(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(),
                     [](const SuiteLine& a, const SuiteLine& b) {
                       return std::pair(a.place.gpus, a.place.ranks) <
                              std::pair(b.place.gpus, b.place.ranks);
                     });
  }
  return lines;
}

std::string suite_table(const SuiteReport& report) {
  std::string text = report.suite->name + ": published by " + report.suite->published + "\n";
  const SuiteRow* row = nullptr;
  SuitePlace place;
  for (const SuiteLine& line : suite_lines(report)) {
    const bool begins = line.row != row || line.place != place;
    if (line.row != row) text += "\n" + heading(report, line);
    row = line.row;
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
      "step_ms,"
      "data_ms,compute_ms,communication_ms,versions,source,state,reason\n";
  const std::vector<SuiteLine> lines = suite_lines(report);
  for (const SuiteLine& line : lines) {
    const ScalingRow* const ours = line.ours;
    const auto measured = [&](double value) {
      return ours == nullptr ? std::nullopt : std::optional(value);
    };
    const ScalingRow none, &row = ours == nullptr ? none : *ours;
    CsvRow csv;
    csv.add_text(report.suite->name).add_text(line.row->name).add_text(line.row->config);
    csv.add_text(task_of(report)).add_text(line.by).add_text(line.hardware);
    csv.add_text(line.place.gpus ? "gpu" : "cpu").add(std::int64_t{line.place.ranks});
    csv.add_text(line.batch > 0 ? std::to_string(line.batch) : "").add_rounded(line.rate, 3);
    csv.add_rounded(measured(row.low), 3).add_rounded(measured(row.high), 3);
    csv.add_rounded(speed_up(lines, line), 3).add_text(line.unit);
    for (const double part :
         {row.parts.step, row.parts.data, row.parts.compute, row.parts.communication}) {
      csv.add_rounded(measured(part), 5);
    }
    csv.add_text(line.versions).add_text(ours == nullptr && line.rate ? report.suite->source : "");
    csv.add_text(state_of(line)).add_text(line.reason);
    text += csv.text();
  }
  return text;
}

std::string suite_json(const SuiteReport& report) {
  std::string text;
  const std::vector<SuiteLine> lines = suite_lines(report);
  for (const SuiteLine& line : lines) {
    Json json{{"suite", report.suite->name},
              {"row", line.row->name},
              {"config", line.row->config},
              {"task", task_of(report)},
              {"by", line.by},
              {"hardware", line.hardware},
              {"device", line.place.gpus ? "gpu" : "cpu"},
              {"ranks", line.place.ranks},
              {"batch", line.batch > 0 ? Json(line.batch) : Json()},
              {"images_per_s", number_or_null(line.rate)},
              {"speedup", number_or_null(speed_up(lines, line))},
              {"unit", line.unit},
              {"versions", line.versions},
              {"state", state_of(line)},
              {"reason", line.reason}};
    if (line.ours != nullptr) {
      json["low"] = line.ours->low;
      json["high"] = line.ours->high;
      json["step_ms"] = line.ours->parts.step;
    }
    text += json_line(json);
  }
  return text;
}

}  // namespace trainyard
