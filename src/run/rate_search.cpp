#include "run/rate_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "run/session/session.h"

namespace trainyard {

namespace {

std::int64_t steps_of(const RateSearchOptions& options, std::int64_t steps_per_epoch) {
  return options.epochs > 0 ? std::max<std::int64_t>(2, options.epochs * steps_per_epoch)
                            : options.steps;
}

/// from * (to / from)^(step / (steps - 1)).
class RateRamp final : public Schedule {
 public:
  explicit RateRamp(const RateSearchOptions& options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return "ramp"; }
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const override {
    const std::int64_t steps = steps_of(options_, context.steps_per_epoch);
    const double part = static_cast<double>(step) / static_cast<double>(steps - 1);
    return options_.from * std::pow(options_.to / options_.from, part);
  }

 private:
  RateSearchOptions options_;
};

/// The run with the ramp instead of what changes its learning rate.
RunConfig on_ramp(RunConfig run, const RateSearchOptions& options) {
  Optimizer optimizer = *run.optimizer;
  optimizer.time_decay = 0;
  run.optimizer = std::make_shared<const Optimizer>(std::move(optimizer));
  run.schedule = std::make_shared<const RateRamp>(options);
  run.lr_scaling = nullptr;
  run.plateau.reset();
  return run;
}

/// The steps of a test, until the loss diverges.
class RateTrial {
 public:
  RateTrial(const RunConfig& run, const DeviceChoice& choice, const RateSearchOptions& options,
            std::optional<InitialWeights> init)
      : options_(options),
        ranks_(RankGroupOptions{}),
        session_(on_ramp(run, options), choice, nullptr, ranks_) {
    session_.initialize();
    if (init) initialize_from(session_.model(), *init);
  }

  RateSearch run() {
    const std::int64_t steps = steps_of(options_, session_.batch().steps);
    std::int64_t step = 0;
    for (; step < steps && !diverged_ && !options_.stopped(); ++step) {
      train(step);
      ResultRing& results = session_.step().results();
      if (results.full()) take(results.take_oldest());
    }
    take(session_.step().results().take_all());
    RateSearch search = judge_rates(std::move(steps_), diverged_);
    search.ended = diverged_ || step == steps;
    return search;
  }

 private:
  void train(std::int64_t step) {
    const std::int64_t steps = session_.batch().steps;
    Feeder& feeder = *session_.data().train_feeder;
    if (step % steps == 0) {
      feeder.start(static_cast<std::uint32_t>(step / steps));
      session_.model().set_epoch(step / steps);
    }
    session_.step().run([&]() -> const Batch& { return feeder.next(); });
  }

  void take(std::span<const StepResult> results) {
    for (const StepResult& result : results) {
      if (!diverged_) take(result);
    }
  }

  void take(const StepResult& result) {
    constexpr double kKept = 0.9, kMostRise = 4;
    if (result.skipped) return;
    const Totals& totals = result.totals;
    const double loss =
        totals.loss / total_weight(session_.model().graph(), totals.metrics, totals.samples);
    if (!result.finite || !std::isfinite(loss)) {
      diverged_ = true;
      return;
    }
    mean_ = kKept * mean_ + (1 - kKept) * loss;
    weight_ = kKept * weight_ + (1 - kKept);
    const double smoothed = mean_ / weight_;
    steps_.push_back(
        {.step = std::ssize(steps_) + 1, .rate = result.rate, .loss = loss, .smoothed = smoothed});
    lowest_ = steps_.size() == 1 ? smoothed : std::min(lowest_, smoothed);
    diverged_ = smoothed > kMostRise * lowest_ && lowest_ > 0;
  }

  RateSearchOptions options_;
  RankGroup ranks_;
  Session session_;
  std::vector<RateChange> steps_;
  double mean_ = 0, weight_ = 0, lowest_ = 0;
  bool diverged_ = false;
};

}  // namespace

RateSearch judge_rates(std::vector<RateChange> steps, bool diverged) {
  RateSearch search{.steps = std::move(steps), .diverged = diverged};
  const auto first = search.steps.begin() + std::ssize(search.steps) / 10;
  const auto lowest =
      std::ranges::min_element(first, search.steps.end(), {}, &RateChange::smoothed);
  if (lowest == search.steps.end() || lowest == first) return search;
  search.lowest = lowest->rate;
  // Over a tenth of the steps: from one to the next the loss falls and rises with its batches.
  const std::ptrdiff_t span =
      std::min(std::max<std::ptrdiff_t>(1, std::ssize(search.steps) / 10), lowest - first);
  double fall = std::numeric_limits<double>::infinity();
  for (auto step = first + span; step <= lowest; ++step) {
    const RateChange& before = *(step - span);
    const double slope = (step->smoothed - before.smoothed) / std::log(step->rate / before.rate);
    if (slope >= fall) continue;
    fall = slope;
    search.steepest = (step - span / 2)->rate;
  }
  search.suggested = std::min(lowest->rate / 10, *search.steepest);
  return search;
}

RateSearch search_rate(const RunConfig& run, const DeviceChoice& choice,
                       const RateSearchOptions& options, std::optional<InitialWeights> init) {
  return naming_gpu(choice, [&] { return RateTrial(run, choice, options, std::move(init)).run(); });
}

}  // namespace trainyard
