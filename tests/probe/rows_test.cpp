// What a probe writes, and which measurements it makes.
#include "rows.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.h"

using namespace trainyard;
using namespace trainyard::probe;

namespace {

Measurement measurement(const std::string& name, std::function<Reading()> measure) {
  return {.name = name,
          .what = "a thing",
          .predicted = "1 us",
          .decides = "a step",
          .measure = std::move(measure)};
}

/// Three measurements, of which the second fails; a second passes with each.
struct Rows {
  std::string path = std::filesystem::temp_directory_path() / "probe_rows_test.jsonl";
  double time = 0;
  std::vector<Measurement> all = {
      measurement("M1.one",
                  [this]() -> Reading {
                    time += 1;
                    return {.spread = spread_of({3, 1, 2}), .more = {{"nodes", 7}}};
                  }),
      measurement("M1.two",
                  [this]() -> Reading {
                    time += 1;
                    throw Error(ErrorKind::device, "refused");
                  }),
      measurement("M2.three", [this]() -> Reading {
        time += 1;
        return {.more = {{"equal", true}}};
      })};

  Outcome outcome;
  std::vector<std::string> make(Request request) {
    request.output = path;
    outcome = make_rows(all, request, [this] { return time; });
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    std::filesystem::remove(path);
    return lines;
  }
};

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::command_line);
    return error.what();
  }
  return "";
}

Request request_of(std::vector<std::string> words) { return take_request(words); }

}  // namespace

TEST_CASE("a measurement is a row, and one that fails is a row with its error") {
  Rows rows;
  const std::vector<std::string> lines = rows.make({});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] ==
        R"({"name":"M1.one","what":"a thing","unit":"us","median":2.0,"min":1.0,"max":3.0,)"
        R"("nodes":7,"predicted":"1 us","decides":"a step"})");
  CHECK(lines[1] == R"({"name":"M1.two","what":"a thing","error":"refused","predicted":"1 us",)"
                    R"("decides":"a step"})");
  CHECK(lines[2] == R"({"name":"M2.three","what":"a thing","equal":true,"predicted":"1 us",)"
                    R"("decides":"a step"})");
  CHECK(rows.outcome.measured == 2);
  CHECK(rows.outcome.failed == 1);
}

TEST_CASE("--only takes parts and names") {
  Rows rows;
  CHECK(rows.make({.only = {"M1"}}).size() == 2);
  CHECK(rows.make({.only = {"M2.three", "M1.one"}}).size() == 2);
  CHECK(refusal([&] { static_cast<void>(rows.make({.only = {"M7"}})); }) ==
        "--only: there is no measurement 'M7'; there are M1, M2 and their rows, such as M1.one");
}

TEST_CASE("what would begin after --seconds is a row that says so") {
  Rows rows;
  const std::vector<std::string> lines = rows.make({.seconds = 2});
  REQUIRE(lines.size() == 3);
  CHECK(lines[2].find(R"("left_out":"2 s were over")") != std::string::npos);
  CHECK(rows.outcome.left_out == 1);
}

TEST_CASE("the flags of a request are taken out of the words") {
  std::vector<std::string> words = {"a", "--only", "M1,M3.x", "--seconds", "9", "--output", "f"};
  const Request request = take_request(words);
  CHECK(words == std::vector<std::string>{"a"});
  CHECK(request.only == std::vector<std::string>{"M1", "M3.x"});
  CHECK(request.seconds == 9);
  CHECK(request.output == "f");
  CHECK(refusal([] { static_cast<void>(request_of({"--only"})); }) == "--only needs a value");
  CHECK(refusal([] {
          static_cast<void>(request_of({"--seconds", "0"}));
        }) == "--seconds 0: give a whole number of seconds from 1 on");
}

TEST_CASE("a file that cannot be written is an error of the disk") {
  Rows rows;
  const Request request{.output = "/nowhere/rows"};
  CHECK_THROWS_WITH_AS(make_rows(rows.all, request, [] { return 0.0; }),
                       "/nowhere/rows cannot be written; give another --output", Error);
}

TEST_CASE("a spread is taken above a base, in parts") {
  const Spread spread = share_above(spread_of({10, 30, 20}), 10, 2);
  CHECK(spread.median == 5);
  CHECK(spread.least == 0);
  CHECK(spread.most == 10);
}
