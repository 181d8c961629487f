#include "optim/schedule.h"

#include "optim/kinds.h"

namespace trainyard {

std::span<const config::Kind<Schedule>> schedule_kinds() {
  static constexpr config::Kind<Schedule> kKinds[] = {
      {"constant", "the optimizer's learning rate", read_constant},
      {"poly", "(base - end) * (1 - t / T)^power + end", read_poly},
      {"cosine", "end + (base - end) * (1 + cos(pi * t / T)) / 2", read_cosine},
      {"step", "base * gamma^floor(t / every)", read_step},
      {"multistep", "base * gamma^(number of boundaries b with t >= b)", read_multistep},
      {"exponential", "base * gamma^t", read_exponential},
      {"inverse", "base * (1 + gamma * t)^-power", read_inverse},
      {"sigmoid", "base / (1 + e^(-gamma * (t - center)))", read_sigmoid},
      {"inverse_sqrt", "base * sqrt(flat / max(t, flat))", read_inverse_sqrt},
      {"linear", "base * (from + (to - from) * t / T)", read_linear_ramp},
      {"cosine_restarts", "cosine again and again, each time over a longer period (SGDR)",
       read_cosine_restarts},
      {"one_cycle", "up to the base and down again (Smith 2018); of the learning rate alone",
       read_one_cycle},
      {"wsd", "constant, then a decay at the end; with a warm-up: warm-up, stable, decay",
       read_wsd},
      {"expression", "a formula of base, epoch, epochs, step and steps", read_expression},
      {"piecewise", "a table of [t, lr]; a row applies once t reaches its t", read_piecewise},
      {"chain", "schedules one after another", read_chain},  // last, see chain_part_kinds()
  };
  return kKinds;
}

std::span<const config::Kind<Schedule>> chain_part_kinds() {
  return schedule_kinds().first(schedule_kinds().size() - 1);
}

void check_rates(const Schedule& schedule, const ScheduleContext& context) {
  constexpr std::int64_t kMost = 100'000;
  const std::int64_t steps = context.epochs * context.steps_per_epoch;
  const std::int64_t stride = (steps + kMost - 1) / kMost;
  for (std::int64_t step = 0; step < steps; step += stride) {
    static_cast<void>(schedule.rate(step, context));
  }
  static_cast<void>(schedule.rate(steps - 1, context));
}

}  // namespace trainyard
