#include "report/epoch_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/line_parts.h"

namespace trainyard {
namespace {

/// In a narrow terminal the highest is left out first. Names are shortened before anything is left
/// out.
enum Rank : int {
  kEpoch,      // stays
  kJudged,     // the value that decides the best
  kValMetric,  // the first metric on the validation split
  kValLoss,
  kLoss,
  kMetric,   // the first one, of training
  kFurther,  // further metrics
  kTimeLeft,
  kEpochTime,
  kOtherLoss,  // regularisation, total
  kLearningRate,
  kRate,
  kStepTime,
  kDataWait,
};

/// A smaller share of waiting, in percent, costs nothing worth a place in the line.
constexpr double kLeastDataWait = 1;

std::string short_name(std::string name) {
  static constexpr std::string_view kLong = "accuracy", kShort = "acc";
  const std::size_t at = name.find(kLong);
  return at == std::string::npos ? name : name.replace(at, kLong.size(), kShort);
}

Rank rank_of(const std::string& name, const EpochRow& row, const std::string& judged) {
  if (name == judged) return kJudged;
  if (name == "val_loss") return kValLoss;
  if (name == "loss") return kLoss;
  if (name == "reg_loss" || name == "total_loss") return kOtherLoss;
  const std::string first = row.metrics.empty() ? "" : row.metrics.front().name;
  if (name == "val_" + first) return kValMetric;
  return name == first ? kMetric : kFurther;
}

/// All parts, regardless of the columns.
std::vector<LinePart> parts_of(LogStyle style, const EpochRow& row, const EpochContext& context,
                               bool short_names) {
  const bool plain = style == LogStyle::plain;
  const char* const between = plain ? " " : ": ";
  std::vector<LinePart> parts = {
      {fmt::format("{} {}/{}", plain ? "epoch" : "Epoch", row.epoch, context.epochs), kEpoch}};
  if (plain) parts.push_back({fmt::format("step {}", row.step), kStepTime});
  parts.push_back({(plain ? "time " : "") + seconds_text(row.epoch_s), kEpochTime});
  if (!plain && context.step_seconds) {
    parts.push_back({step_time_text(*context.step_seconds), kStepTime});
  }
  for (const NamedValue& item : measured_values(row)) {
    parts.push_back(
        {(short_names ? short_name(item.name) : item.name) + between + value_text(item.value),
         rank_of(item.name, row, context.judged)});
  }
  parts.push_back({fmt::format("lr{}{:.3e}", between, row.lr), kLearningRate});
  parts.push_back({rate_text(row.images_per_s, context.unit), kRate});
  if (row.data_wait_percent.value_or(0) >= kLeastDataWait) {
    parts.push_back({fmt::format("data wait {:.0f}%", *row.data_wait_percent), kDataWait});
  }
  if (context.eta_seconds) {
    parts.push_back({"eta " + duration_text(*context.eta_seconds), kTimeLeft});
  }
  return parts;
}

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
  const std::string_view separator = style == LogStyle::plain ? " " : " - ";
  const std::string_view mark = style == LogStyle::plain ? " best" : " *";
  // Lines without the mark or the eta are fitted as if they had it, so that all have the same
  // parts. The last column stays free: some terminals wrap when it is written to.
  EpochContext whole = context;
  whole.eta_seconds = context.eta_seconds.value_or(0);
  const int room = context.columns > 0 ? std::max(context.columns - 1 - columns_of(mark), 1) : 0;
  std::vector<LinePart> parts = parts_of(style, row, whole, false);
  if (room > 0 && columns_of(joined(parts, separator)) > room) {
    parts = fitted(parts_of(style, row, whole, true), separator, room);
  }
  if (!context.eta_seconds) {
    std::erase_if(parts, [](const LinePart& part) { return part.rank == kTimeLeft; });
  }
  return joined(parts, separator).append(row.is_best ? mark : "");
}

}  // namespace trainyard
