#include "report/progress.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

/// As in the watchdog of several ranks (ranks/rendezvous/watchdog_board.h).
constexpr double kHangSteps = 20;

/// In the order of RunPhase.
constexpr std::array<std::string_view, 7> kPhases = {
    "starting", "reading_data", "building", "loading", "training", "evaluating", "saving"};
static_assert(kPhases.size() == static_cast<std::size_t>(RunPhase::saving) + 1);

}  // namespace

std::string_view name_of(RunPhase phase) { return kPhases.at(static_cast<std::size_t>(phase)); }

ProgressNote::ProgressNote(const Clock& clock, const ProgressLimits& limits)
    : clock_(clock), limits_(limits) {
  begin(RunPhase::starting);
}

void ProgressNote::recall(const RunProgress& progress) {
  const std::lock_guard lock(mutex_);
  now_.epoch = progress.epoch;
  now_.step = progress.step;
  now_.loss = progress.loss;
}

void ProgressNote::start_training(std::int64_t epoch, std::int64_t step, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  now_.epoch = epoch;
  now_.step = first_step_ = step;
  steps_ = steps;
  began_ = clock_.seconds();
}

void ProgressNote::begin(RunPhase phase) {
  const std::lock_guard lock(mutex_);
  now_.phase = phase;
  mark();
}

void ProgressNote::on_step(const StepRow& row) {
  const std::lock_guard lock(mutex_);
  move_to(row.epoch - 1, row);
}

void ProgressNote::on_epoch(const EpochRow& row) {
  const std::lock_guard lock(mutex_);
  move_to(row.epoch, row);
}

void ProgressNote::end() {
  const std::lock_guard lock(mutex_);
  now_.eta_seconds.reset();
  mark();
}

RunProgress ProgressNote::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

double ProgressNote::limit(RunPhase phase) const {
  const bool trains = phase >= RunPhase::training && seconds_a_step_ > 0;
  return trains ? std::max(limits_.step, kHangSteps * seconds_a_step_) : limits_.first_step;
}

void ProgressNote::mark() {
  now_.progressed = clock_.utc_seconds();
  now_.hang_after_seconds = limit(now_.phase);
}

template <typename Row>
void ProgressNote::move_to(std::int64_t epoch, const Row& row) {
  now_.epoch = epoch;
  now_.step = row.step;
  now_.loss = row.loss;
  now_.images_per_s = row.images_per_s;
  now_.data_wait_percent = row.data_wait_percent;
  const std::int64_t done = row.step - first_step_;
  if (done > 0) {
    // Includes evaluations and saving so far, which recur.
    seconds_a_step_ = (clock_.seconds() - began_) / static_cast<double>(done);
    now_.eta_seconds =
        seconds_a_step_ * static_cast<double>(std::max<std::int64_t>(steps_ - row.step, 0));
  }
  mark();
}

}  // namespace trainyard
