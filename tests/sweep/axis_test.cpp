#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "sweep/plan.h"

namespace trainyard {
namespace {

using testing::error_of;
using Words = std::vector<std::string>;

std::string refusal(const std::string& text) {
  return error_of(ErrorKind::command_line, [&] { (void)parse_axis(text); });
}

TEST_CASE("a list of values is split at the commas outside brackets and quotes") {
  const SweepAxis axis = parse_axis("optimizer.sgd.lr=1e-3,5e-3");
  CHECK(axis.key == "optimizer.sgd.lr");
  CHECK(axis.values == Words{"1e-3", "5e-3"});
  CHECK_FALSE(axis.range);
  CHECK(parse_axis("a={b: [1, 2], c: 3},'x,y', \"p,q\"").values ==
        Words{"{b: [1, 2], c: 3}", "'x,y'", "\"p,q\""});
  CHECK(parse_axis("a=b=c,d").values == Words{"b=c", "d"});
}

TEST_CASE("the points of a linear and of a logarithmic range are evenly spaced, with its ends") {
  CHECK(grid_values(parse_axis("a=log:1e-4..1e-1:4")) == Words{"1e-04", "0.001", "0.01", "0.1"});
  CHECK(grid_values(parse_axis("a=lin:0.0..1.0:5")) == Words{"0", "0.25", "0.5", "0.75", "1"});
}

TEST_CASE("numbers are rounded to four digits, and to whole ones between whole ends") {
  CHECK(grid_values(parse_axis("a=lin:0.0..1:4")) == Words{"0", "0.3333", "0.6667", "1"});
  CHECK(grid_values(parse_axis("a=log:16..256:3")) == Words{"16", "64", "256"});
  CHECK(grid_values(parse_axis("a=lin:1..3:9")) == Words{"1", "2", "3"});
}

TEST_CASE("the ends of a range are exact") {
  const SweepRange range{.low = 0.3, .high = 0.7, .logarithmic = true};
  CHECK(value_at(range, 0) == "0.3");
  CHECK(value_at(range, 1) == "0.7");
}

TEST_CASE("a text that is no axis is refused with what is wrong") {
  CHECK(refusal("optimizer.sgd.lr") ==
        "--grid optimizer.sgd.lr: expected KEY=VALUES, as in optimizer.sgd.lr=1e-3,5e-3");
  CHECK(refusal("=3").find("expected KEY=VALUES") != std::string::npos);
  CHECK(refusal("a=1,,2") == "--grid a=1,,2: a value is empty");
  CHECK(refusal("a=1,2,1") == "--grid a=1,2,1: the value 1 occurs twice");
  CHECK(refusal("a=log:1e-4") ==
        "--grid a=log:1e-4: a range is written LOW..HIGH, as in log:1e-4..1e-1");
  CHECK(refusal("a=log:0..1") == "--grid a=log:0..1: a logarithmic range must begin above 0");
  CHECK(refusal("a=lin:2..1") == "--grid a=lin:2..1: the range must begin below its end");
  CHECK(refusal("a=lin:x..1") == "--grid a=lin:x..1: 'x' is not a number");
  CHECK(refusal("a=lin:0..1:1") ==
        "--grid a=lin:0..1:1: the number of points after the second colon must be from 2 to 10000");
}

TEST_CASE("a range without points is no part of a grid") {
  const std::string message =
      error_of(ErrorKind::command_line, [] { (void)grid_values(parse_axis("a=log:1e-4..1e-1")); });
  CHECK(message ==
        "--grid a: a range needs --random N, which draws from it, or a number of points for a "
        "grid, as in log:1e-4..1e-1:4");
}

}  // namespace
}  // namespace trainyard
