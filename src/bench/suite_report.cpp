// The figures of `train bench --suite` as a table, CSV and JSON lines.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "bench/suite.h"
#include "report/csv_file.h"

namespace trainyard {
namespace {

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
