// The share of time spent waiting for data, in the line of an epoch.
#include <doctest/doctest.h>

#include <string>

#include "formats/json.h"
#include "report/epoch_line.h"

using namespace trainyard;

namespace {

std::string line_of(double percent, LogStyle style = LogStyle::keras) {
  EpochRow row{.epoch = 1, .loss = 1, .images_per_s = 100};
  row.data_wait_percent = percent;
  return epoch_line(style, row, {.epochs = 2, .eta_seconds = 5});
}

}  // namespace

TEST_CASE("a line says how long training waited for data, if that is at least one percent") {
  CHECK(line_of(0.9).find("data wait") == std::string::npos);
  CHECK(line_of(12.4).ends_with(" - 100 img/s - data wait 12% - eta 0:00:05"));
  CHECK(line_of(12.4, LogStyle::plain).ends_with(" 100 img/s data wait 12% eta 0:00:05"));
  CHECK(parse_json(line_of(0.9, LogStyle::json), {"line"})["data_wait_percent"] == 0.9);
}
