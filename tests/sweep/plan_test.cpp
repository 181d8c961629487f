#include "sweep/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../base/error_of.h"
#include "base/text.h"

namespace trainyard {
namespace {

using testing::error_of;

std::vector<SweepAxis> axes_of(const std::vector<std::string>& texts) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : texts) axes.push_back(parse_axis(text));
  return axes;
}

std::vector<std::string> names_of(const std::vector<SweepPoint>& points) {
  std::vector<std::string> names;
  for (const SweepPoint& point : points) names.push_back(point.name);
  return names;
}

TEST_CASE("a grid has every combination, the last axis fastest") {
  const auto axes = axes_of({"optimizer.sgd.lr=1e-3,5e-3", "batch.total=64,128"});
  const auto points = grid_points(axes);
  CHECK(names_of(points) == std::vector<std::string>{"lr=1e-3__total=64", "lr=1e-3__total=128",
                                                     "lr=5e-3__total=64", "lr=5e-3__total=128"});
  CHECK(point_overrides(axes, points[1]) ==
        std::vector<std::string>{"optimizer.sgd.lr=1e-3", "batch.total=128"});
}

TEST_CASE("keys with the same last word are told apart by more words") {
  const auto points = grid_points(axes_of({"data.train.size=8,9", "data.val.size=1,2", "seed=3"}));
  CHECK(points.front().name == "train.size=8__val.size=1__seed=3");
}

TEST_CASE("a name is a plain folder name, and different values have different ones") {
  const auto points = grid_points(axes_of({"schedule={cosine: {by: step}},{cosine: {by/step}}"}));
  CHECK(points[0].name.starts_with("schedule=_cosine__"));
  CHECK(points[0].name != points[1].name);
  for (const SweepPoint& point : points) {
    CHECK(point.name.find_first_of("/ {}") == std::string::npos);
    CHECK(point.name.size() <= 129);
  }
}

TEST_CASE("two axes of one key, and too many combinations, are refused") {
  CHECK(error_of(ErrorKind::command_line, [] {
          (void)grid_points(axes_of({"a=1", "a=2"}));
        }) == "--grid: the key a is given twice");
  const std::string many = "lin:1..101:101";
  CHECK(error_of(ErrorKind::command_line, [&] {
          (void)grid_points(axes_of({"a=" + many, "b=" + many}));
        }) == "--grid: more than 10,000 combinations; use fewer values, or --random N");
}

TEST_CASE("keys that exclude each other are refused in one sweep") {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"optimizer.sgd.lr", "optimizer.adam.lr"},
      {"batch.per_gpu", "batch.total"},
      {"schedule.cosine.final", "schedule.poly.power"},
      {"data.val.limit", "data.val_fraction"}};
  for (const auto& [first, second] : pairs) {
    const auto axes = axes_of({first + "=1", "epochs=2", second + "=1"});
    const std::string text = "--grid: " + first + " and " + second +
                             " exclude each other, so that no run would have both; make two sweeps";
    CHECK(error_of(ErrorKind::command_line, [&] { (void)grid_points(axes); }) == text);
    CHECK(error_of(ErrorKind::command_line, [&] { (void)random_points(axes, 3, 0); }) == text);
  }
  CHECK(grid_points(axes_of({"optimizer.sgd.lr=1", "optimizer.sgd.momentum=0"})).size() == 1);
}

TEST_CASE("seeds are a last axis of every point") {
  auto axes = axes_of({"lr=1,2"});
  const auto points = with_seeds(axes, grid_points(axes), 42, 2);
  CHECK(names_of(points) == std::vector<std::string>{"lr=1__seed=42", "lr=1__seed=43",
                                                     "lr=2__seed=42", "lr=2__seed=43"});
  CHECK(point_overrides(axes, points[3]) == std::vector<std::string>{"lr=2", "seed=43"});
  std::vector<SweepAxis> none;
  CHECK(names_of(with_seeds(none, grid_points(none), 1, 2)) ==
        std::vector<std::string>{"seed=1", "seed=2"});
  auto seeds = axes_of({"seed=1,2"});
  CHECK(error_of(ErrorKind::command_line, [&] {
          (void)with_seeds(seeds, grid_points(seeds), 42, 2);
        }) == "--grid: the key seed is given twice, perhaps by --seeds");
}

TEST_CASE("draws depend on seed, axis and number alone") {
  const auto axes = axes_of({"lr=log:1e-4..1e-1", "size=8,16,32"});
  const auto few = random_points(axes, 5, 7);
  const auto many = random_points(axes, 40, 7);
  REQUIRE(few.size() == 5);
  CHECK(names_of(few) == names_of({many.begin(), many.begin() + 5}));
  CHECK(names_of(few) != names_of(random_points(axes, 5, 8)));
}

TEST_CASE("draws of a logarithmic range fill its decades evenly and stay inside") {
  const auto axes = axes_of({"lr=log:1e-4..1e-1", "size=8,16,32"});
  const auto points = random_points(axes, 3000, 1);
  std::vector<int> decades(3), sizes(3);
  for (const SweepPoint& point : points) {
    const double lr = *parse_real(point.values[0]);
    REQUIRE(lr >= 1e-4);
    REQUIRE(lr <= 1e-1);
    ++decades[static_cast<std::size_t>(std::min(2.0, std::floor(std::log10(lr) + 4)))];
    ++sizes[point.values[1] == "8" ? 0 : point.values[1] == "16" ? 1 : 2];
  }
  // A third each of 3000 draws (equal ones are dropped); 5 standard deviations are 130.
  for (const int count : decades) CHECK(std::abs(count - 1000) < 150);
  for (const int count : sizes) CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("equal draws are one run") {
  const auto points = random_points(axes_of({"a=1,2"}), 100, 0);
  CHECK(points.size() == 2);
  std::set<std::string> names;
  for (const SweepPoint& point : points) names.insert(point.name);
  CHECK(names == std::set<std::string>{"a=1", "a=2"});
}

}  // namespace
}  // namespace trainyard
