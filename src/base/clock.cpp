#include "base/clock.h"

#include <array>
#include <ctime>

namespace trainyard {

namespace {

std::string formatted(std::int64_t utc_seconds, const char* format) {
  const std::time_t time = utc_seconds;
  std::tm parts = {};
  ::gmtime_r(&time, &parts);
  std::array<char, 64> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

double SystemClock::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t SystemClock::utc_seconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string utc_text(std::int64_t utc_seconds) {
  return formatted(utc_seconds, "%Y-%m-%dT%H:%M:%SZ");
}

std::optional<std::int64_t> utc_seconds_of(const std::string& text) {
  std::tm parts = {};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

std::string utc_time_of_day(std::int64_t utc_seconds) { return formatted(utc_seconds, "%H:%M:%S"); }

}  // namespace trainyard
