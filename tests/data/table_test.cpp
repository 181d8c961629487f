#include "data/sets/table.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/sets/subset.h"
#include "helpers.h"

namespace trainyard {

using test::holds;
using test::message_of;

namespace {

TableOptions table_options(const test::TemporaryFolder& folder, const std::string& text,
                           const std::string& name = "t.csv") {
  TableOptions options;
  options.file = folder.write(name, text).string();
  options.columns.label = "kind";
  options.labels = ListLabels::name;
  return options;
}

std::vector<float> features(const Dataset& set, std::int64_t index) {
  std::vector<float> values(static_cast<std::size_t>(set.image_shape().elements()));
  set.read(index, values.data());
  return values;
}

std::vector<int> classes_of_rows(const Dataset& set) {
  std::vector<int> found;
  for (std::int64_t i = 0; i < set.size(); ++i) found.push_back(set.label(i));
  return found;
}

/// The message of a table without the path of its file.
std::string table_message(const TableOptions& options, const Opening& opening = {},
                          ErrorKind kind = ErrorKind::data) {
  std::string text = message_of(kind, [&] { (void)open_table(options, opening); });
  const std::string file = "'" + options.file.string() + "'";
  if (const std::size_t at = text.find(file); at != std::string::npos) {
    text.replace(at, file.size(), "TABLE");
  }
  return text;
}

using Change = void (*)(TableOptions&);

std::string message_for(
    const std::string& text, Change change = [](TableOptions&) {}) {
  const test::TemporaryFolder folder;
  TableOptions options = table_options(folder, text);
  change(options);
  return table_message(options);
}

const std::string kRows =
    "width,kind,colour,id\n"
    "1,oak,red,7\n"
    "3,elm,blue,8\n"
    "5,oak,red,9\n";

TableOptions trees(const test::TemporaryFolder& folder, const std::string& text = kRows) {
  TableOptions options = table_options(folder, text);
  options.columns.categorical = {"colour"};
  options.columns.ignore = {"id"};
  return options;
}

}  // namespace

TEST_CASE("numbers of a table are standardised, categories are one-hot, labels are classes") {
  const test::TemporaryFolder folder;
  const auto set = open_table(trees(folder));
  CHECK(set->image_shape() == Shape{3, 1, 1});
  CHECK(sample_text(*set) == "[3]");
  CHECK(set->class_names() == std::vector<std::string>{"elm", "oak"});
  CHECK(classes_of_rows(*set) == std::vector<int>{1, 0, 1});
  // 1, 3, 5: the mean is 3, the variance of the population 8 / 3. Blue, then red.
  const auto far = static_cast<float>(2 / std::sqrt(8.0 / 3));
  CHECK(features(*set, 0) == std::vector<float>{-far, 0, 1});
  CHECK(features(*set, 1) == std::vector<float>{0, 1, 0});
  CHECK(features(*set, 2) == std::vector<float>{far, 0, 1});
  REQUIRE(set->table() != nullptr);
  CHECK(set->table()->columns[0].mean == 3);
  CHECK(set->table()->columns[1].categories == std::vector<std::string>{"blue", "red"});
}

TEST_CASE("a table may be a TSV with quotes, a byte order mark and CRLF, its labels numbers") {
  const test::TemporaryFolder folder;
  TableOptions options = table_options(
      folder, "\xef\xbb\xbf kind\t\"a, b\"\r\n2\t\" 1.5\"\r\n\r\n0\t-2e0\r\n", "t.tsv");
  options.separator = Separator::tab;
  options.quotes = true;
  options.labels = ListLabels::number;
  const auto set = open_table(options);
  CHECK(set->classes() == 3);
  CHECK(set->class_names().empty());
  CHECK(classes_of_rows(*set) == std::vector<int>{2, 0});
  CHECK(features(*set, 0) == std::vector<float>{1});
  CHECK(features(*set, 1) == std::vector<float>{-1});
  CHECK(set->table()->columns[0].name == "a, b");
}

TEST_CASE("another split follows the training split, whatever the order of its columns") {
  const test::TemporaryFolder folder;
  const auto train = open_table(trees(folder));
  Opening opening = following({}, *train);
  const TableOptions options = trees(folder, "extra,id,colour,kind,width\n1,2,blue,elm,3\n");
  const auto val = open_table(options, opening);
  CHECK(features(*val, 0) == std::vector<float>{0, 1, 0});
  CHECK(*val->table() == *train->table());
  const auto refused = [&](
                           const std::string& text, Change change = [](TableOptions&) {}) {
    TableOptions of_val = trees(folder, text);
    change(of_val);
    return table_message(of_val, opening);
  };
  CHECK(refused("width,kind,colour,id\n1,oak,rad,1\n") ==
        "TABLE, line 2: column 'colour': 'rad' is not a category of the training split; correct "
        "it, or "
        "set 'unknown: ignore', with which the row has none of the column's categories; did you "
        "mean 'red'?");
  CHECK(refused("widht,kind,colour,id\n1,oak,red,1\n") ==
        "TABLE has the columns widht, kind, colour, id, but none named 'width': the training "
        "split has this column; did you mean 'widht'?");
  CHECK(refused(kRows, [](TableOptions& of) { of.columns.categorical.clear(); }) ==
        "TABLE has the column 'colour', which is categorical in the training split; name it so in "
        "'columns' here too");
  TableOptions unknown = trees(folder, "width,kind,colour,id\n3,oak,green,1\n3,elm,,2\n");
  unknown.unknown = UnknownCategory::ignore;
  CHECK(features(*open_table(unknown, opening), 0) == std::vector<float>{0, 0, 0});
  CHECK(features(*open_table(unknown, opening), 1) == std::vector<float>{0, 0, 0});
}

TEST_CASE("the form of a table survives as JSON, to the bit") {
  const test::TemporaryFolder folder;
  const auto set = open_table(trees(folder, "width,kind,colour,id\n0.1,a,b,1\n0.7,a,c,2\n"));
  CHECK(table_form_of(Json::parse(json_text(json_of(*set->table())))) == *set->table());
}

TEST_CASE("the training part of a divided table alone gives the form") {
  const test::TemporaryFolder folder;
  std::string rows = "kind,x,c\n";
  for (int i = 0; i < 40; ++i) {
    rows +=
        std::to_string(i % 2) + "," + std::to_string(i * i) + ",c" + std::to_string(i % 3) + "\n";
  }
  TableOptions options = table_options(folder, rows);
  options.columns.categorical = {"c"};
  const auto train = open_table(options, {.seed = 3}, RowsPart{0.25, Part::train});
  const auto val = open_table(options, {.seed = 3}, RowsPart{0.25, Part::val});
  CHECK(train->size() == 30);
  CHECK(val->size() == 10);
  CHECK(*train->table() == *val->table());
  double sum = 0;
  for (std::int64_t i = 0; i < 30; ++i) sum += features(*train, i)[0];
  CHECK(std::abs(sum) < 1e-4);
  // The same samples as of any other source.
  const auto whole = open_table(options);
  const Divided how{.fraction = 0.25, .seed = 3};
  const std::vector<std::int64_t> indices = part_of(*whole, how, Part::val);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    CHECK(val->origin(static_cast<std::int64_t>(i)) == indices[i]);
  }
  const auto again = open_table(options, following({.seed = 3}, *train), RowsPart{0.25, Part::val});
  CHECK(again->fingerprint() == val->fingerprint());
  CHECK(features(*again, 3) == features(*val, 3));
}

TEST_CASE("cells without a value are an error, the mean, a number, or their rows are left out") {
  const test::TemporaryFolder folder;
  TableOptions options =
      trees(folder, "width,kind,colour,id\n1,oak,red,7\nNA,elm,blue,\n5,oak,red,9\n");
  CHECK(table_message(options) ==
        "TABLE, line 3: column 'width': has no value; correct it, or set 'missing' to 'mean', "
        "'drop' or a number ('{value: 0}')");
  options.missing.rule = MissingRule::mean;
  CHECK(features(*open_table(options), 1) == std::vector<float>{0, 1, 0});
  CHECK(features(*open_table(options), 0) == std::vector<float>{-1, 0, 1});
  options.missing.value = 9;
  CHECK(open_table(options)->table()->columns[0].mean == 5);
  options.missing = {.rule = MissingRule::drop};
  std::string warned;
  const auto dropped =
      open_table(options, {.warn = [&](const std::string& text) { warned += text; }});
  CHECK(dropped->size() == 2);
  CHECK(dropped->origin(1) == 2);
  CHECK(dropped->image_shape() == Shape{2, 1, 1});
  CHECK(holds(warned, "t.csv': 1 of 3 rows lacks a value and is left out ('missing: drop')"));
  CHECK(holds(warned, "column 'width'") == false);
}

TEST_CASE("a constant column is a warning, its features are zeros") {
  const test::TemporaryFolder folder;
  std::string warned;
  const auto set = open_table(table_options(folder, "kind,x,y\na,0.1,1\nb,0.1,2\na,0.1,3\n"),
                              {.warn = [&](const std::string& text) { warned += text; }});
  CHECK(features(*set, 1)[0] == 0);
  CHECK(holds(warned, "column 'x' has the same value in all rows of the training split"));
}

TEST_CASE("what is wrong in a table is named with its line and column") {
  const std::string fix =
      "a number, as 12 or -1.5e3; correct it, or name the column in 'categorical' or 'ignore' of "
      "'columns'";
  CHECK(message_for("kind,x\na,1\nb,red\n") == "TABLE, line 3: column 'x': 'red' is not " + fix);
  CHECK(message_for("kind,x\na,\"1,5\"\n") == "TABLE, line 2: column 'x': '1,5' is not " + fix);
  CHECK(message_for("kind,x\na,inf\n") == "TABLE, line 2: column 'x': 'inf' is not " + fix);
  CHECK(message_for("kind,x\na,1e39\n") ==
        "TABLE, line 2: column 'x': '1e39' is not within the numbers of 32 bits, up to 3.4e38");
  CHECK(message_for("kind,x\na,1,2\n") ==
        "TABLE, line 2: has 3 cells, expected 2 (kind, x); a separator within a cell needs quotes "
        "around the cell");
  CHECK(message_for("kind,x\n\na\n") == "TABLE, line 3: has 1 cell, expected 2 (kind, x)");
  CHECK(message_for("kind,x\n,1\n") == "TABLE, line 2: has no label: its cell is empty");
  CHECK(message_for("") == "TABLE is empty; expected rows of cells");
  CHECK(message_for("\xef\xbb\xbf\r\n\r\n") == "TABLE is empty; expected rows of cells");
  CHECK(message_for("kind,x\n") ==
        "TABLE has a first line, which names the columns, but no rows below it");
  CHECK(message_for("kin,x\na,1\n") ==
        "TABLE has the columns kin, x, but none named 'kind': 'columns.label' names a "
        "column of the first line; did you mean 'kin'?");
  CHECK(message_for("kind;x\na;1\n") ==
        "TABLE has the columns kind;x, but none named 'kind': 'columns.label' names a "
        "column of the first line; its cells seem to be divided otherwise: set 'separator: "
        "semicolon'");
  CHECK(message_for("kind,x,x\na,1,2\n") ==
        "TABLE has several columns named 'x'; give each its own name");
  CHECK(message_for(",kind,x\n0,a,1\n") ==
        "TABLE has no name for column 1; name it in the first line, or leave it out with 'ignore: "
        "[\"\"]' of 'columns'");
  CHECK(message_for("kind\na\n") == "TABLE has no columns of features: 'columns' leaves none");
  CHECK(message_for("kind,x\na,1\n\xff,2\n") ==
        "TABLE, line 3: holds bytes that are not UTF-8; save it as UTF-8");
  CHECK(message_for(std::string("k\0i\0n\0d\0", 8)) == "TABLE is UTF-16 text; save it as UTF-8");
  CHECK(message_for("kind,x\n\"a,1\n") == "TABLE, line 2: a quote is not closed");
  const auto mean = [](TableOptions& options) { options.missing.rule = MissingRule::mean; };
  CHECK(message_for("kind,x,y\na,,1\nb,NA,2\n", mean) ==
        "TABLE has no value in column 'x' of the training split; name it in 'ignore' of 'columns'");
  const auto drop = [](TableOptions& options) { options.missing.rule = MissingRule::drop; };
  CHECK(message_for("kind,x\na,\n", drop) == "TABLE lacks a value in every row; 'missing: drop'");
  const auto numbers = [](TableOptions& options) { options.labels = ListLabels::number; };
  CHECK(message_for("kind,x\na,1\n", numbers) ==
        "TABLE, line 2: label 'a' is not a whole number from 0; for names of classes set 'labels: "
        "name'");
  const auto category = [](TableOptions& options) { options.columns.categorical = {"x"}; };
  CHECK(message_for("kind,x\na,p\nb,\n", category) ==
        "TABLE, line 3: column 'x': has no value; correct it, or set 'unknown: ignore', with which "
        "the row has none of the column's categories");
  const test::TemporaryFolder folder;
  TableOptions twice = table_options(folder, "kind,x\na,1\n");
  twice.columns.ignore = {"kind"};
  CHECK(table_message(twice, {}, ErrorKind::config) ==
        "'columns' of the table TABLE names 'kind' twice");
}

TEST_CASE("a number far from those of training, and more features than memory are refused") {
  const test::TemporaryFolder folder;
  const auto train = open_table(table_options(folder, "kind,x\na,1\nb,1.0000001\n"));
  CHECK(
      holds(table_message(table_options(folder, "kind,x\na,1\nb,3e38\n"), following({}, *train)),
            "TABLE, line 3: column 'x': '3e38' is too far from the training split's numbers, whose "
            "mean is 1.0000000"));
  std::string rows = "kind,x,y\n";
  for (int i = 0; i < 40000; ++i) rows += "a," + std::to_string(i) + ",1\n";
  TableOptions options = table_options(folder, rows);
  options.columns.categorical = {"x"};
  CHECK(table_message(options) ==
        "TABLE has 40,001 features in each of 40,000 rows, more than 4 GiB; column 'x' has 40,000 "
        "of them: name it in 'ignore' of 'columns', or give it fewer categories");
}

}  // namespace trainyard
