// Time that a test advances.
#pragma once

#include "base/clock.h"

namespace trainyard {

/// A clock that its owner advances.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t utc_seconds) : start_utc_(utc_seconds) {}
  /// Advances by `seconds` >= 0.
  void advance(double seconds) { elapsed_ += seconds; }
  [[nodiscard]] double seconds() const override { return elapsed_; }
  [[nodiscard]] std::int64_t utc_seconds() const override {
    return start_utc_ + static_cast<std::int64_t>(elapsed_);
  }

 private:
  std::int64_t start_utc_ = 0;
  double elapsed_ = 0;
};

}  // namespace trainyard
