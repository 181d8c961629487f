#include "optim/plateau.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

bool improves(const PlateauPolicy& rule, double value, const std::optional<double>& best) {
  if (!best) return std::isfinite(value);
  return rule.larger_is_better ? value > *best + rule.min_delta : value < *best - rule.min_delta;
}

}  // namespace

PlateauState after_epoch(const PlateauPolicy& rule, const PlateauState& state, double value,
                         double rate) {
  if (std::isnan(value)) return state;
  PlateauState next = state;
  if (next.cooldown > 0) {
    --next.cooldown;
    next.waited = 0;
  }
  if (improves(rule, value, next.best)) {
    next.best = value;
    next.waited = 0;
  } else if (next.cooldown == 0) {
    ++next.waited;
    if (next.waited >= rule.patience && rate > rule.min_rate) {
      next.factor *= rule.factor;
      next.cooldown = rule.cooldown;
      next.waited = 0;
    }
  }
  return next;
}

double plateau_rate(const PlateauState& state, double min_rate, double scheduled) {
  if (state.factor == 1) return scheduled;
  return std::max(scheduled * state.factor, std::min(scheduled, min_rate));
}

}  // namespace trainyard
