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
      {"piecewise", "a table of [t, lr]; a row applies once t reaches its t", read_piecewise},
  };
  return kKinds;
}

}  // namespace trainyard
