#include "base/clock.h"

#include <doctest/doctest.h>

#include "manual_clock.h"

using namespace trainyard;

TEST_CASE("UTC is written in RFC 3339 format") {
  CHECK(utc_text(0) == "1970-01-01T00:00:00Z");
  CHECK(utc_text(951827696) == "2000-02-29T12:34:56Z");
  CHECK(utc_time_of_day(951827696) == "12:34:56");
}

TEST_CASE("a time is read back, and any other text is rejected") {
  CHECK(utc_seconds_of("2000-02-29T12:34:56Z") == 951827696);
  for (const char* text : {"", "2000-02-29", "2000-02-29T12:34:56", "2000-02-29T12:34:56Z "}) {
    CHECK_FALSE(utc_seconds_of(text).has_value());
  }
}

TEST_CASE("a manual clock advances only by advance()") {
  ManualClock clock(1000);
  CHECK(clock.seconds() == 0.0);
  CHECK(clock.utc_seconds() == 1000);
  clock.advance(1.5);
  CHECK(clock.seconds() == 1.5);
  CHECK(clock.utc_seconds() == 1001);
}

TEST_CASE("the system clock never decreases and is past the year 2020") {
  const SystemClock clock;
  const double first = clock.seconds();
  CHECK(clock.seconds() >= first);
  CHECK(clock.utc_seconds() > 1577836800);
}
