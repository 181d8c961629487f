// The numbers in console lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/epoch_line.h"

namespace trainyard {

std::string value_text(double value) {
  // fmt prints the sign of a NaN; lines need one word.
  if (std::isnan(value)) return "nan";
  const bool small = value != 0 && std::abs(value) < 1e-3;
  return small ? fmt::format("{:.4e}", value) : fmt::format("{:.4f}", value);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string seconds_text(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.1f}s", seconds) : fmt::format("{:.0f}s", seconds);
}

std::string step_time_text(double seconds) {
  if (seconds >= 9.95) return fmt::format("{:.0f}s/step", seconds);
  if (seconds >= 0.9995) return fmt::format("{:.1f}s/step", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.0f}ms/step", seconds * 1e3);
  return fmt::format("{:.0f}us/step", seconds * 1e6);
}

std::string rate_text(double samples_per_s, std::string_view unit) {
  return samples_per_s < 9.95 ? fmt::format("{:.1f} {}/s", samples_per_s, unit)
                              : fmt::format("{:.0f} {}/s", samples_per_s, unit);
}

}  // namespace trainyard
