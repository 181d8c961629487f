#include "analysis/schedule_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/plural.h"
#include "base/text.h"
#include "config/difference.h"
#include "run/config/batch_numbers.h"
#include "run/config/batch_rate.h"

namespace trainyard {

namespace {

struct KnownSet {
  std::string_view source;
  std::int64_t samples;  // of its training split
};

constexpr std::array<KnownSet, 5> kKnownSets = {{{"cifar10", 50'000},
                                                 {"cifar100", 50'000},
                                                 {"mnist", 60'000},
                                                 {"fashion_mnist", 60'000},
                                                 {"imdb", 25'000}}};

std::optional<std::int64_t> whole_set(const RunConfig& run) {
  const auto key = [&](const char* name) {
    return config::value_at(run.settled, std::string("data.train.") + name);
  };
  const std::string source = key("source");
  if (source.starts_with("synthetic")) return parse_integer(key("size"));
  const auto* set = std::ranges::find(kKnownSets, source, &KnownSet::source);
  if (set == kKnownSets.end() || key("split") != "train") return std::nullopt;
  const std::int64_t limit = parse_integer(key("limit")).value_or(0);
  return limit > 0 ? std::min(limit, set->samples) : set->samples;
}

}  // namespace

std::optional<std::int64_t> expected_samples(const RunConfig& run) {
  const auto samples = whole_set(run);
  if (!samples || !run.data.val_fraction) return samples;
  return *samples -
         static_cast<std::int64_t>(static_cast<double>(*samples) * *run.data.val_fraction);
}

CurvePicture schedule_curve(const RunConfig& run, std::int64_t ranks, std::int64_t samples) {
  const BatchNumbers batch = batch_numbers(run, ranks, samples);
  PlotCurve curve;
  constexpr std::int64_t kMostPoints = 2000;  // more than the picture has columns
  for (const RatePoint& point : scheduled_rates(run, batch, kMostPoints)) {
    const auto done = static_cast<double>(point.step - 1);
    curve.points.push_back({done / static_cast<double>(batch.steps), point.rate});
  }
  return {.title = fmt::format("{}: {} of {}", run.name, count_text(run.epochs, "epoch"),
                               count_text(batch.steps, "step")),
          .x_label = "epoch",
          .panels = {{.label = "learning rate", .curves = {curve}, .from_zero = true}}};
}

}  // namespace trainyard
