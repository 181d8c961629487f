#include "../base/temporary_folder.h"
#include "data/sets/table.h"
#include "data/text/texts.h"
#include "expect.h"

namespace trainyard::fuzz {

/// Columns `label` and `c`, of categories; all others are numbers.
void read_table_rows(std::string_view input) {
  const testing::TemporaryFolder folder;
  TableOptions options;
  options.file = folder.write("a.csv", std::string(input)).string();
  options.columns = {.label = "label", .categorical = {"c"}};
  options.labels = ListLabels::name;
  options.missing.rule = MissingRule::mean;
  options.unknown = UnknownCategory::ignore;
  const auto set = open_table(options);
  expect(set->table()->features() == set->image_shape()[0], "features are lost");
  expect_readable(*set);
  const std::string written = json_text(json_of(*set->table()));
  const TableForm again =
      read_again(written, [&] { return table_form_of(parse_json(written, {.name = "x"})); });
  expect(again == *set->table(), "a form changes when it is written");
  const auto other = read_again("", [&] { return open_table(options, following({}, *set)); });
  expect(other->size() == set->size(), "a table does not follow itself");
}

/// Columns `label` and `text`.
void read_text_columns(std::string_view input) {
  const testing::TemporaryFolder folder;
  TextsOptions options;
  options.file = folder.write("a.tsv", std::string(input)).string();
  options.separator = Separator::tab;
  options.quotes = true;
  options.columns = {.text = "text", .label = "label"};
  options.labels = ListLabels::name;
  options.length = 2;
  for (const TextUnit unit : {TextUnit::words, TextUnit::characters}) {
    options.unit = unit;
    const auto set = open_texts(options);
    std::vector<std::int32_t> tokens(2);
    set->read_field(1, set->size() - 1, reinterpret_cast<std::byte*>(tokens.data()));
    for (const std::int32_t token : tokens) {
      expect(token >= 0 && token < set->vocabulary()->size(), "a token is not in the vocabulary");
    }
  }
}

}  // namespace trainyard::fuzz
