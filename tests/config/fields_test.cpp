#include "config/fields.h"

#include <doctest/doctest.h>

#include "support.h"

using namespace trainyard;
using namespace trainyard::config;

namespace {

enum class Fill { constant, nearest, wrap };
std::span<const Word<Fill>> words(Fill) {
  static constexpr Word<Fill> kWords[] = {
      {Fill::constant, "constant"}, {Fill::nearest, "nearest"}, {Fill::wrap, "wrap"}};
  return kWords;
}

struct Window {
  Pair size{2, 2};
  Pair stride{1, 1};
  Fill fill = Fill::nearest;
};
void declare(Fields& fields, Window& window) {
  fields.required("size", window.size, "of the window", {.minimum = 1});
  fields.field("stride", window.stride, "step", {.minimum = 1});
  fields.field("fill", window.fill, "outside");
}

struct Rate {
  virtual ~Rate() = default;
  double power = 1;
};
std::unique_ptr<Rate> read_poly(Fields& fields) {
  auto rate = std::make_unique<Rate>();
  fields.field("power", rate->power, "exponent", {.minimum = 0, .exclusive_minimum = true});
  return rate;
}
std::unique_ptr<Rate> read_constant(Fields&) { return std::make_unique<Rate>(); }
std::span<const Kind<Rate>> rates() {
  static constexpr Kind<Rate> kKinds[] = {{"constant", "", read_constant}, {"poly", "", read_poly}};
  return kKinds;
}

struct Everything {
  std::int64_t count = 3;
  double ratio = 0.5;
  bool flag = false;
  std::string name = "x";
  std::vector<std::int64_t> sizes;
  std::optional<double> clip;
  Window window;
  std::unique_ptr<Rate> rate;
  std::vector<std::unique_ptr<Rate>> list;
};
void declare(Fields& fields, Everything& all) {
  fields.field("count", all.count, "", {.minimum = 1, .maximum = 9});
  fields.field("ratio", all.ratio, "", {.minimum = 0, .maximum = 1});
  fields.field("flag", all.flag, "");
  fields.field("name", all.name, "");
  fields.field("sizes", all.sizes, "", {.minimum = 1});
  fields.field("clip", all.clip, "", {.minimum = 0});
  fields.field("window", all.window, "");
  fields.one_of("rate", all.rate, "", rates());
  fields.list_of("list", all.list, "", rates());
}

}  // namespace

TEST_CASE("positional values are matched in the order of the declarations") {
  Window window;
  CHECK(read_into("[3, [1, 2], wrap]", window).empty());
  CHECK(window.size == Pair{3, 3});
  CHECK(window.stride == Pair{1, 2});
  CHECK(window.fill == Fill::wrap);
  Window one;
  CHECK(read_into("5", one).empty());
  CHECK(one.size == Pair{5, 5});
}

TEST_CASE("explicit values beat defaults, defaults beat the declaration") {
  const Node defaults = parse_yaml("{stride: 2, fill: wrap}", "d.yaml");
  Window window;
  CHECK(read_into("{size: 3, fill: constant}", window, "pool", &defaults).empty());
  CHECK(window.stride == Pair{2, 2});
  CHECK(window.fill == Fill::constant);
}

TEST_CASE("every kind of field is read") {
  Everything all;
  CHECK(read_into("{count: 4, ratio: 1, flag: true, name: y, sizes: [1, 2], clip: 5, "
                  "window: {size: 3}, rate: {poly: 2}, list: [constant, poly: {power: 0.5}]}",
                  all)
            .empty());
  CHECK(all.count == 4);
  CHECK(all.ratio == 1);
  CHECK(all.flag);
  CHECK(all.name == "y");
  CHECK(all.sizes == std::vector<std::int64_t>{1, 2});
  CHECK(all.clip == 5);
  CHECK(all.window.size == Pair{3, 3});
  CHECK(all.rate->power == 2);
  REQUIRE(all.list.size() == 2);
  CHECK(all.list[1]->power == 0.5);
}

TEST_CASE("the settled map holds every default and reads to the same values") {
  const Node node = parse_yaml(
      "{count: 4, clip: ~, window: [3], rate: poly, list: [constant, poly: {power: 0.5}]}", "a");
  Diagnostics diagnostics;
  Everything all;
  all.clip = 1;
  Fields fields(node, nullptr, "all", Profile::keras2, diagnostics);
  declare(fields, all);
  fields.finish();
  REQUIRE(diagnostics.empty());
  const Node settled = fields.settled();
  CHECK(settled.find("count")->integer == 4);
  CHECK(settled.find("clip")->kind == Node::Kind::null);
  CHECK(settled.find("window")->find("stride") != nullptr);
  CHECK(settled.find("rate")->find("poly")->find("power") != nullptr);
  REQUIRE(settled.find("list")->items.size() == 2);
  CHECK(settled.find("list")->items[1].find("poly")->find("power")->real == 0.5);
  Everything again;
  Fields second(settled, nullptr, "all", Profile::keras2, diagnostics);
  declare(second, again);
  second.finish();
  CHECK(diagnostics.empty());
  CHECK(to_yaml(second.settled()) == to_yaml(settled));
}

TEST_CASE("what is not given keeps its default") {
  Everything all;
  all.clip = 1;
  CHECK(read_into("{clip: ~}", all).empty());
  CHECK_FALSE(all.clip.has_value());
  CHECK(all.count == 3);
  CHECK_FALSE(all.rate);
}

TEST_CASE("all errors of a map come in one go, in file order") {
  Everything all;
  CHECK(read_into("{count: 1e1, ratio: two, flag: yes, nme: y,\n"
                  " sizes: [1, 0], window: {fill: warp}, rate: {poly: {power: 0}}}",
                  all, "test") ==
        "t.yaml:1:9: 'count' wants a whole number from 1 to 9, found number 1e1; write it without "
        "point or exponent\n"
        "t.yaml:1:21: 'ratio' wants a number from 0 to 1, found text 'two'\n"
        "t.yaml:1:32: 'flag' wants true or false, found text 'yes'\n"
        "t.yaml:1:37: unknown key 'nme' in 'test'; did you mean 'name'?\n"
        "t.yaml:2:13: 'sizes' wants a list of whole numbers of at least 1, found number 0\n"
        "t.yaml:2:17: missing key 'size' in 'window'\n"
        "t.yaml:2:32: 'fill' wants one of constant, nearest, wrap, found text 'warp'; did you mean "
        "'wrap'?\n"
        "t.yaml:2:60: 'power' wants a number above 0, found number 0");
}
