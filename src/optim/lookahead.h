// Lookahead (Zhang et al. 2019): slow weights, which are pulled towards the trained ones every few
// steps, and to which these then return.
//
//   slow += pull * (trained - slow);  trained = slow
#pragma once

#include <cstdint>
#include <memory>

#include "config/fields.h"
#include "optim/schedule.h"

namespace trainyard {

struct Lookahead {
  std::int64_t every = 5;                    // steps
  double pull = 0.5;                         // in [0, 1]
  std::shared_ptr<const Schedule> schedule;  // of pulls, whose base is `pull`; null: always that
  bool statistics = true;                    // of running statistics, too

  [[nodiscard]] ScheduleContext context_of(const ScheduleContext& run) const {
    return {.base = pull, .steps = run.steps, .steps_per_epoch = run.steps_per_epoch};
  }
  /// The pull at the end of step `step`, counted from 0; below 0: there is none. After the run's
  /// last step the trained weights are the slow ones. Throws as Schedule::rate().
  [[nodiscard]] double pull_after(std::int64_t step, const ScheduleContext& run) const {
    if ((step + 1) % every == 0) return schedule ? schedule->rate(step, context_of(run)) : pull;
    return step + 1 == run.steps ? 0 : -1;
  }
};

inline void declare(config::Fields& fields, Lookahead& lookahead) {
  fields.field("every", lookahead.every, "steps from pull to pull", {.minimum = 1});
  fields.field("pull", lookahead.pull,
               "the part of the way that slow weights go to the trained ones",
               {.minimum = 0, .maximum = 1});
  fields.one_of("schedule", lookahead.schedule, "of pulls: 'pull' in place of the learning rate",
                schedule_kinds());
  fields.field("statistics", lookahead.statistics, "pull running statistics too");
}

}  // namespace trainyard
