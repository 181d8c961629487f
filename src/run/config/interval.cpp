#include "run/config/interval.h"

#include <charconv>

namespace trainyard {

std::optional<Interval> interval_of(std::string_view text) {
  Interval interval;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, interval.count);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const bool epochs = unit == " epoch" || unit == " epochs";
  const bool steps = unit == " step" || unit == " steps";
  if (status != std::errc{} || interval.count < 1 || (!epochs && !steps)) return std::nullopt;
  interval.unit = steps ? Interval::Unit::step : Interval::Unit::epoch;
  return interval;
}

}  // namespace trainyard
