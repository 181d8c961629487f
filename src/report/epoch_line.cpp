#include "report/epoch_line.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"

namespace trainyard {

namespace {

std::string json_banner(const Banner& banner) {
  Json json = {{"event", "start"},
               {"run", banner.run},
               {"seed", banner.seed},
               {"devices", banner.devices},
               {"global_batch", global_batch(banner)},
               {"replica_batch", banner.replica_batch},
               {"replicas", banner.replicas},
               {"shards", banner.shards},
               {"accumulate", banner.accumulate},
               {"steps_per_epoch", banner.steps},
               {"dropped_samples", banner.dropped},
               {"lr_factor", banner.rate_factor},
               {"train_samples", banner.train_samples},
               {"val_samples", banner.val_samples},
               {"parameters", banner.parameters}};
  if (!banner.feeding.empty()) json["feeding"] = banner.feeding;
  if (!banner.copies.empty()) json["copies"] = banner.copies;
  if (!banner.init.empty()) json["init"] = banner.init;
  return event_line(json);
}

}  // namespace

std::optional<LogStyle> log_style_of(std::string_view word) {
  if (word == "keras") return LogStyle::keras;
  if (word == "json") return LogStyle::json;
  if (word == "plain") return LogStyle::plain;
  return std::nullopt;
}

std::int64_t global_batch(const Banner& banner) {
  const std::int64_t parts = banner.shards > 0 ? banner.shards : banner.replicas;
  return banner.replica_batch * parts * banner.accumulate;
}

std::string banner_line(LogStyle style, const Banner& banner) {
  if (style == LogStyle::json) return json_banner(banner);
  std::string batch = fmt::format("{} = {} x {}", global_batch(banner), banner.replica_batch,
                                  banner.shards > 0 ? fmt::format("{} shards", banner.shards)
                                                    : std::to_string(banner.replicas));
  if (banner.accumulate > 1) batch += fmt::format(" x {} accumulated", banner.accumulate);
  batch += ", " + count_text(banner.steps, "step");
  if (banner.dropped > 0) {
    batch += ", " + count_text(banner.dropped, "sample") + " dropped";
  }
  if (banner.rate_factor != 1) batch += fmt::format(", lr x {:.6g}", banner.rate_factor);
  return fmt::format(
      "run {} | seed {} | {}, global batch {} | {} train, {} val{}{} | {} parameters{}{}{}{}",
      banner.run, banner.seed, banner.devices, batch, banner.train_samples, banner.val_samples,
      banner.feeding.empty() ? "" : ", ", banner.feeding, with_separators(banner.parameters),
      banner.copies.empty() ? "" : ", ", banner.copies, banner.init.empty() ? "" : "\n",
      banner.init);
}

double eta_at(double images_per_s, std::int64_t samples) {
  return images_per_s > 0 ? static_cast<double>(samples) / images_per_s : 0;
}

EpochContext epoch_context(const EpochRow& row, std::int64_t epochs, std::int64_t samples_a_step) {
  EpochContext context{.epochs = epochs};
  if (row.images_per_s > 0) {
    context.step_seconds = static_cast<double>(samples_a_step) / row.images_per_s;
  }
  if (row.epoch < epochs) {
    const double earlier =
        static_cast<double>(row.earlier_steps) * context.step_seconds.value_or(0);
    context.eta_seconds = (row.epoch_s + earlier) * static_cast<double>(epochs - row.epoch);
  }
  return context;
}

Json epoch_json(const EpochRow& row, const EpochContext& context) {
  Json json = {{"event", "epoch"}, {"epoch", row.epoch}, {"epochs", context.epochs}};
  json["step"] = row.step;
  json["samples"] = row.samples;
  for (const NamedValue& item : measured_values(row)) json[item.name] = number_or_null(item.value);
  json["lr"] = number_or_null(row.lr);
  json["grad_norm"] = number_or_null(row.grad_norm);
  json["is_best"] = row.is_best;
  json["elapsed_s"] = row.elapsed_s;
  json["epoch_s"] = row.epoch_s;
  json["images_per_s"] = number_or_null(row.images_per_s);
  json["data_wait_percent"] = number_or_null(row.data_wait_percent);
  json["eta_s"] = number_or_null(context.eta_seconds);
  return json;
}

std::string epoch_line(LogStyle style, const EpochRow& row, const EpochContext& context) {
  return style == LogStyle::json ? event_line(epoch_json(row, context))
                                 : epoch_text(style, row, context);
}

std::string best_legend(std::string_view judged) {
  return fmt::format("(*: the best {} so far)", judged);
}

std::string minute_line(LogStyle style, const Progress& progress, std::int64_t utc_seconds) {
  if (style == LogStyle::json) {
    return event_line({{"event", "progress"},
                       {"time", utc_text(utc_seconds)},
                       {"epoch", progress.epoch},
                       {"epochs", progress.epochs},
                       {"phase", progress.validating ? "validation" : "training"},
                       {progress.validating ? "batch" : "step_in_epoch", progress.step},
                       {progress.validating ? "batches" : "steps_per_epoch", progress.steps},
                       {"loss", progress.loss},
                       {"accuracy", number_or_null(progress.accuracy)},
                       {"images_per_s", progress.images_per_s},
                       {"eta_s", progress.eta_seconds}});
  }
  return fmt::format("{} epoch {}/{} {} {}/{} loss {} {} eta {}", utc_time_of_day(utc_seconds),
                     progress.epoch, progress.epochs, progress.validating ? "validation" : "step",
                     progress.step, progress.steps, value_text(progress.loss),
                     rate_text(progress.images_per_s, progress.unit),
                     duration_text(progress.eta_seconds));
}

}  // namespace trainyard
