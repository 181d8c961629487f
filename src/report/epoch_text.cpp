// The line of an epoch for people, and the values in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

/// A smaller share of waiting, in percent, costs nothing worth a place in the line.
constexpr double kLeastDataWait = 1;

}  // namespace

std::vector<NamedValue> measured_values(const EpochRow& row) {
  std::vector<NamedValue> values = {{"loss", row.loss}};
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    if (value) values.push_back({name, *value});
  };
  add("reg_loss", row.reg_loss);
  add("total_loss", row.total_loss);
  for (const MetricValue& metric : row.metrics) add(metric.name, metric.training);
  add("val_loss", row.val_loss);
  for (const MetricValue& metric : row.metrics) add("val_" + metric.name, metric.validation);
  add("clean_loss", row.clean_loss);
  for (const MetricValue& metric : row.metrics) add("clean_" + metric.name, metric.clean);
  return values;
}

std::string epoch_text(LogStyle style, const EpochRow& row, const EpochContext& context) {
  const bool plain = style == LogStyle::plain;
  const char* const between = plain ? " " : ": ";
  std::vector<std::string> parts = {
      fmt::format("{} {}/{}", plain ? "epoch" : "Epoch", row.epoch, context.epochs)};
  if (plain) parts.push_back(fmt::format("step {}", row.step));
  parts.push_back((plain ? "time " : "") + seconds_text(row.epoch_s));
  if (!plain && context.step_seconds) parts.push_back(step_time_text(*context.step_seconds));
  for (const NamedValue& item : measured_values(row)) {
    parts.push_back(item.name + between + value_text(item.value));
  }
  parts.push_back(fmt::format("lr{}{:.3e}", between, row.lr));
  parts.push_back(rate_text(row.images_per_s, context.unit));
  if (row.data_wait_percent.value_or(0) >= kLeastDataWait) {
    parts.push_back(fmt::format("data wait {:.0f}%", *row.data_wait_percent));
  }
  if (context.eta_seconds) parts.push_back("eta " + duration_text(*context.eta_seconds));
  return joined(parts, plain ? " " : " - ").append(!row.is_best ? "" : plain ? " best" : " *");
}

std::string value_text(double value) {
  // fmt prints the sign of a NaN; lines need one word.
  if (std::isnan(value)) return "nan";
  const bool small = value != 0 && std::abs(value) < 1e-3;
  return small ? fmt::format("{:.4e}", value) : fmt::format("{:.4f}", value);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string seconds_text(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.1f}s", seconds) : fmt::format("{:.0f}s", seconds);
}

std::string step_time_text(double seconds) {
  if (seconds >= 9.95) return fmt::format("{:.0f}s/step", seconds);
  if (seconds >= 0.9995) return fmt::format("{:.1f}s/step", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.0f}ms/step", seconds * 1e3);
  return fmt::format("{:.0f}us/step", seconds * 1e6);
}

std::string rate_text(double samples_per_s, std::string_view unit) {
  return samples_per_s < 9.95 ? fmt::format("{:.1f} {}/s", samples_per_s, unit)
                              : fmt::format("{:.0f} {}/s", samples_per_s, unit);
}

namespace {

constexpr std::int64_t kBarColumns = 20;

std::string bar_of(const Progress& progress, bool utf8) {
  const std::int64_t steps = std::max<std::int64_t>(progress.steps, 1);
  const std::int64_t filled =
      kBarColumns * std::clamp<std::int64_t>(progress.step, 0, steps) / steps;
  std::string bar = " ";
  for (std::int64_t i = 0; i < kBarColumns; ++i) {
    bar += utf8 ? (i < filled ? "━" : "─") : (i < filled ? "#" : "-");
  }
  return bar;
}

/// Two digits are enough for something that changes ten times a second.
std::string short_value(double value) {
  if (value != 0 && value < 0.01 && value > -0.01) return fmt::format("{:.1e}", value);
  return fmt::format("{:.2f}", value);
}

std::vector<std::string> words_of(const Progress& progress, bool utf8) {
  const std::string count = fmt::format("{}/{}", progress.step, progress.steps);
  const std::string what = progress.validating ? "  validation " : "  ";
  std::vector<std::string> words = {
      fmt::format("{:>3}/{}{}{}", progress.epoch, progress.epochs, what, count),
      bar_of(progress, utf8)};
  if (!progress.validating) words.push_back("  loss " + short_value(progress.loss));
  if (!progress.validating && progress.accuracy) {
    words.push_back("  acc " + short_value(*progress.accuracy));
  }
  words.push_back("  eta " + duration_text(progress.eta_seconds));
  if (!progress.validating) {
    words.push_back("  " + rate_text(progress.images_per_s, progress.unit));
  }
  return words;
}

}  // namespace

std::string bar_line(const Progress& progress, const BarStyle& style) {
  std::string line;
  for (const std::string& word : words_of(progress, style.utf8)) {
    // The last column stays free: some terminals wrap when it is written to.
    if (style.columns > 0 && columns_of(line + word) >= style.columns) break;
    line += word;
  }
  return line;
}

std::string repainted(std::string_view line) {
  return fmt::format("\r{}\x1b[K", line);  // go to the row's start, print, erase the rest
}

}  // namespace trainyard
