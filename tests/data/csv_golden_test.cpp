// Files of rows against the goldens of scripts/make_csv_goldens.py: what pandas reads from them.
#include <doctest/doctest.h>

#include "config/load.h"
#include "data/sets/table_features.h"
#include "helpers.h"

namespace trainyard {
namespace {

using config::Node;

std::vector<std::string> texts_in(const Node& list) {
  std::vector<std::string> texts;
  for (const Node& item : list.items) texts.push_back(item.text);
  return texts;
}

Separator separator_named(const std::string& name) {
  if (name == "tab") return Separator::tab;
  return name == "semicolon" ? Separator::semicolon : Separator::comma;
}

Node goldens() { return config::load_yaml(TY_SOURCE_DIR "/tests/data/goldens/csv.yaml"); }

}  // namespace

TEST_CASE("columns and cells are those that pandas reads") {
  const Node all = goldens();
  REQUIRE(all.find("texts")->items.size() == 25);
  for (const Node& golden : all.find("texts")->items) {
    const std::string text = golden.find("text")->text;
    CAPTURE(text);
    const RowsOptions options{.separator = separator_named(golden.find("separator")->text)};
    const NamedRows rows = named_rows(text, options, "x.csv");
    CHECK(rows.columns == texts_in(*golden.find("columns")));
    const auto& expected = golden.find("rows")->items;
    REQUIRE(rows.rows.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(rows.rows[i].cells == texts_in(expected[i]));
    }
  }
}

TEST_CASE("a number is missing where pandas finds none") {
  for (const std::string& word : texts_in(*goldens().find("missing"))) {
    CAPTURE(word);
    CHECK(lacks_value({.line = 2, .cells = {word}}, {.place = 0, .is = {}}));
  }
}

}  // namespace trainyard
