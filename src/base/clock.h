// Time as a parameter: nothing below the command line reads a clock itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard {

/// A time of a monotonic clock, and a duration.
using Moment = std::chrono::steady_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since some fixed time; never decreases.
  [[nodiscard]] virtual double seconds() const = 0;
  /// Seconds since 1970-01-01 00:00:00 UTC.
  [[nodiscard]] virtual std::int64_t utc_seconds() const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] double seconds() const override;
  [[nodiscard]] std::int64_t utc_seconds() const override;
};

/// "2026-07-30T12:03:41Z" (RFC 3339).
[[nodiscard]] std::string utc_text(std::int64_t utc_seconds);
/// The inverse; empty for any other text.
[[nodiscard]] std::optional<std::int64_t> utc_seconds_of(const std::string& text);
/// "12:03:41", the time of day in UTC.
[[nodiscard]] std::string utc_time_of_day(std::int64_t utc_seconds);

}  // namespace trainyard
