#include "data/sets/target_columns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "data/sets/image_list.h"
#include "data/sets/subset.h"
#include "data/sets/table.h"
#include "data/sets/table_form.h"
#include "data/text/texts.h"
#include "helpers.h"

namespace trainyard {

using test::message_of;

namespace {

using Floats = std::vector<float>;

/// The numbers of a field of a sample.
Floats numbers(const Dataset& set, const std::string& name, std::int64_t index) {
  const std::vector<SampleField> fields = set.fields();
  const auto at = std::ranges::find(fields, name, &SampleField::name);
  REQUIRE(at != fields.end());
  CHECK(at->type == DType::f32);
  Floats values(static_cast<std::size_t>(at->shape.elements()));
  set.read_field(static_cast<std::size_t>(at - fields.begin()), index,
                 reinterpret_cast<std::byte*>(values.data()));
  return values;
}

TargetColumn column(std::vector<std::string> names) {
  return {.columns = std::move(names), .column = {}, .split = {}};
}
TargetColumn words_of(const std::string& name) {
  return {.columns = {}, .column = name, .split = ";"};
}

const std::string kHouses =
    "size,price,w,a,b,tags\n"
    "1,10,0.5,1,0,garden; lake\n"
    "3,30,2,0,1,\n"
    "5,20,1,1,1,lake;lake\n";

TableOptions houses(const test::TemporaryFolder& folder, const std::string& text = kHouses,
                    const std::string& name = "h.csv") {
  TableOptions options;
  options.file = folder.write(name, text).string();
  options.columns.targets = {{"price", column({"float"})},
                             {"weight", column({"w"})},
                             {"marks", column({"a", "b"})},
                             {"tags", words_of("tags")}};
  return options;
}

std::string houses_message(const TableOptions& options, const Opening& opening = {}) {
  std::string text = message_of(ErrorKind::data, [&] { (void)open_table(options, opening); });
  const std::string file = "'" + options.file.string() + "'";
  if (text.starts_with(file)) text.replace(0, file.size(), "HOUSES");
  return text;
}

}  // namespace

TEST_CASE("columns are fields: standardised, as they are, several at once, and words") {
  const test::TemporaryFolder folder;
  const auto set = open_table(houses(folder));
  CHECK(set->image_shape() == Shape{1, 1, 1});  // targets are no features
  CHECK(set->classes() == 0);
  CHECK(set->label(0) == -1);
  const auto far = static_cast<float>(10 / std::sqrt(200.0 / 3));
  CHECK(numbers(*set, "price", 0) == Floats{-far});
  CHECK(numbers(*set, "price", 1) == Floats{far});
  CHECK(numbers(*set, "price", 2) == Floats{0});
  CHECK(numbers(*set, "weight", 1) == Floats{2});
  CHECK(numbers(*set, "marks", 1) == Floats{0, 1});
  CHECK(numbers(*set, "tags", 0) == Floats{1, 1});
  CHECK(numbers(*set, "tags", 1) == Floats{0, 0});
  CHECK(numbers(*set, "tags", 2) == Floats{0, 1});
  const std::vector<SampleField> fitted = fitted_fields(*set);
  REQUIRE(fitted.size() == 2);
  CHECK(fitted[0].mean == std::vector<double>{20});
  CHECK(fitted[1].words == std::vector<std::string>{"garden", "lake"});
  for (const SampleField& field : fitted) {
    CHECK(sample_field_of(Json::parse(json_text(json_of(field)))) == field);
  }
}

TEST_CASE("fields of another split follow the training split") {
  const test::TemporaryFolder folder;
  const Opening opening = following({}, *open_table(houses(folder)));
  const std::string head = "size,price,w,a,b,tags\n";
  const auto val = open_table(houses(folder, head + "1,20,1,0,0,lake\n", "v.csv"), opening);
  CHECK(numbers(*val, "price", 0) == Floats{0});
  CHECK(numbers(*val, "tags", 0) == Floats{0, 1});
  CHECK(
      houses_message(houses(folder, head + "1,20,1,0,0,lakes\n"), opening) ==
      "HOUSES, line 2: column 'tags': 'lakes' is not a word of the training split; correct it; did "
      "you mean 'lake'?");
  TableOptions other = houses(folder);
  other.columns.targets[0].second = column({"a", "b"});
  other.columns.targets[0].second.standardize = true;
  other.columns.targets.erase(other.columns.targets.begin() + 2);
  CHECK(houses_message(other, opening) ==
        "HOUSES is read with another field 'price' than the training split; give both the same "
        "'columns'");
}

TEST_CASE("cells that are no targets are told with line and column, and drop leaves rows out") {
  const test::TemporaryFolder folder;
  const std::string rows = kHouses + "7,,1,0,0,lake\n";
  TableOptions options = houses(folder, rows);
  options.missing.rule = MissingRule::mean;
  CHECK(houses_message(options) ==
        "HOUSES, line 5: column 'price': has no value, and is a target; correct it, or set "
        "'missing: drop'");
  options.missing.rule = MissingRule::drop;
  CHECK(open_table(options)->size() == 3);
  CHECK(houses_message(houses(folder, kHouses + "7,9,much,0,0,lake\n")) ==
        "HOUSES, line 5: column 'w': 'much' is not a number, as 12 or -1.5e3; correct it");
  options.columns.targets = {{"cost", column({"float"})}};
  CHECK(houses_message(options) ==
        "HOUSES has the columns size, price, w, a, b, tags, but none named 'cost': "
        "'columns.cost' names a column of the first line");
}

TEST_CASE("a target that is constant has the deviation 1, with a warning") {
  const test::TemporaryFolder folder;
  TableOptions options = houses(folder, "size,price\n1,5\n2,5\n");
  options.columns.targets = {{"price", column({"float"})}};
  std::string warning;
  const auto set = open_table(options, {.warn = [&](const std::string& text) { warning = text; }});
  CHECK(numbers(*set, "price", 0) == Floats{0});
  CHECK(fitted_fields(*set)[0].deviation == std::vector<double>{1});
  CHECK(test::holds(warning, "column 'price' has the same value"));
}

TEST_CASE("texts have fields besides their tokens, with a label or without") {
  const test::TemporaryFolder folder;
  TextsOptions options;
  options.file = folder.write("t.csv", "text,stars\na b,1\nb,3\n").string();
  options.columns.text = "text";
  options.columns.targets = {{"stars", column({"float"})}};
  const auto set = open_texts(options);
  CHECK(set->fields().size() == 4);
  CHECK(numbers(*set, "stars", 0) == Floats{-1});
  CHECK(numbers(*set, "stars", 1) == Floats{1});
  CHECK(set->label(0) == -1);
}

TEST_CASE("images of a list have fields, held in memory or not, of their training part") {
  const test::TemporaryFolder folder;
  std::string list = "path,age,label\n";
  for (int i = 0; i < 8; ++i) {
    const std::string name = std::to_string(i) + ".png";
    folder.write(name, test::png_of({.w = 2, .h = 1}, std::string(6, static_cast<char>(i))));
    list += name + "," + std::to_string(10 * i) + ",0\n";
  }
  ImageListOptions options;
  options.file = folder.write("list.csv", list).string();
  options.header = true;
  options.columns.targets = {{"age", column({"float"})}, {"years", column({"age"})}};
  for (const std::int64_t memory : {0, 1024}) {
    options.memory_mib = memory;
    const auto whole = open_image_list(options);
    CHECK(numbers(*whole, "years", 3) == Floats{30});
    CHECK(fitted_fields(*whole)[0].mean == std::vector<double>{35});
    const RowsPart part{0.25, Part::train};
    const auto train = open_image_list(options, {}, part);
    REQUIRE(train->size() == 6);
    double sum = 0;
    for (std::int64_t i = 0; i < 6; ++i) sum += numbers(*train, "years", i)[0];
    CHECK(fitted_fields(*train)[0].mean[0] == doctest::Approx(sum / 6));
    const auto val = open_image_list(options, following({}, *train), RowsPart{0.25, Part::val});
    CHECK(val->size() == 2);
    CHECK(fitted_fields(*val) == fitted_fields(*train));
  }
}

}  // namespace trainyard
