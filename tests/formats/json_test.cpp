#include "formats/json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

using namespace trainyard;

namespace {

std::string json_message(const std::string& text, const JsonLimits& limits = {}) {
  try {
    (void)parse_json(text, {"state.json", ErrorKind::checkpoint}, limits);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::checkpoint);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("keys keep the order of the file") {
  const Json json = parse_json(R"({"z": 1, "a": [true, null, "t"], "m": {"k": -2.5}})", {"x"});
  CHECK(json_line(json) == "{\"z\":1,\"a\":[true,null,\"t\"],\"m\":{\"k\":-2.5}}\n");
}

TEST_CASE("doubles round-trip bit for bit") {
  for (const double value : {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0}) {
    const Json back = parse_json(json_line(Json{{"v", value}}), {"x"});
    CHECK(back["v"].get<double>() == value);
    CHECK(std::signbit(back["v"].get<double>()) == std::signbit(value));
  }
}

TEST_CASE("64-bit integers round-trip exactly") {
  const Json json = parse_json("[18446744073709551615, -9223372036854775808]", {"x"});
  CHECK(json[0].get<std::uint64_t>() == 18446744073709551615u);
  CHECK(json[1].get<std::int64_t>() == INT64_MIN);
}

TEST_CASE("a syntax error is reported with line and column") {
  CHECK(json_message("{\n  \"a\": ,\n}").starts_with("state.json:2:8: not valid JSON: "));
  CHECK(json_message("").starts_with("state.json:1:1: not valid JSON: "));
  CHECK(json_message("{} {}").starts_with("state.json:1:4: not valid JSON: "));
}

TEST_CASE("a duplicate key is refused at any level") {
  CHECK(json_message(R"({"a": 1, "b": 2, "a": 3})") == "state.json: duplicate key 'a'");
  CHECK(json_message(R"([{"a": {"c": 1, "c": 2}}])") == "state.json: duplicate key 'c'");
  CHECK(json_message(R"({"a": {"a": 1}, "b": {"a": 1}})").empty());
}

TEST_CASE("nesting and the number of values are limited") {
  CHECK(json_message(std::string(33, '[') + std::string(33, ']')) ==
        "state.json: JSON nested deeper than 32");
  CHECK(json_message(std::string(32, '[') + std::string(32, ']')).empty());
  CHECK(json_message(std::string(1000000, '[')) == "state.json: JSON nested deeper than 32");
  CHECK(json_message("[1,2,3]", {.depth = 2, .values = 3}) ==
        "state.json: more than 3 JSON values");
  CHECK(json_message("[1,2]", {.depth = 2, .values = 3}).empty());
}

TEST_CASE("a number out of range and text that is not UTF-8 are refused") {
  CHECK(json_message("[1e999]").starts_with("state.json:1:"));
  CHECK(json_message("[\"\xff\"]").starts_with("state.json:1:"));
}

TEST_CASE("text that is not UTF-8 is written with the replacement character") {
  CHECK(json_line(Json{{"path",
                        "a\xff"
                        "b"}}) ==
        "{\"path\":\"a\xEF\xBF\xBD"
        "b\"}\n");
}
