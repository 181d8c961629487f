#include "data/text/texts.h"

#include <doctest/doctest.h>

#include "helpers.h"

namespace trainyard {

using test::field_of;
using test::holds;
using test::message_of;

namespace {

using Tokens = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

const std::string kPosts =
    "id,post,topic\n"
    "1,\"Rain, rain and WIND!\",weather\n"
    "2,a goal,sport\n"
    "3,rain stops play: a draw,sport\n";

TextsOptions posts(const test::TemporaryFolder& folder, const std::string& text = kPosts) {
  TextsOptions options;
  options.file = folder.write("posts.csv", text).string();
  options.columns = {.text = "post", .label = "topic"};
  options.labels = ListLabels::name;
  options.vocabulary = 5;
  options.length = 4;
  return options;
}

std::string texts_message(const TextsOptions& options, const Opening& opening = {}) {
  std::string text = message_of(ErrorKind::data, [&] { (void)open_texts(options, opening); });
  const std::string file = "'" + options.file.string() + "'";
  if (text.starts_with(file)) text.replace(0, file.size(), "TEXTS");
  return text;
}

std::string posts_message(const std::string& text) {
  const test::TemporaryFolder folder;
  return texts_message(posts(folder, text));
}

}  // namespace

TEST_CASE("texts are words by their frequency, cut and padded at the front, with lengths") {
  const test::TemporaryFolder folder;
  const auto set = open_texts(posts(folder));
  REQUIRE(set->size() == 3);
  CHECK(sample_text(*set) == "of 4 tokens");
  CHECK(set->class_names() == Words{"sport", "weather"});
  CHECK(set->label(0) == 1);
  CHECK(set->label(1) == 0);
  // "rain" three times, "a" twice, of the others "and" is first in the order of bytes.
  CHECK(set->vocabulary()->words() == Words{"<pad>", "<unknown>", "rain", "a", "and"});
  CHECK(field_of(*set, 1, 0) == Tokens{2, 2, 4, 1});
  CHECK(field_of(*set, 1, 1) == Tokens{0, 0, 3, 1});
  CHECK(field_of(*set, 1, 2) == Tokens{1, 1, 3, 1});
  CHECK(set->fields()[2] == SampleField{.name = "length", .padding = PaddingSide::front});
  CHECK(field_of(*set, 2, 0) == Tokens{4});
  CHECK(field_of(*set, 2, 1) == Tokens{2});
}

TEST_CASE("a vocabulary is of all units, or of as many as are given, whatever the texts have") {
  const test::TemporaryFolder folder;
  TextsOptions options = posts(folder, "post,topic\nab\xc3\xa4,x\nb b,y\n");
  options.unit = TextUnit::characters;
  options.vocabulary = 0;
  const auto all = open_texts(options);
  CHECK(all->vocabulary()->words() == Words{"<pad>", "<unknown>", "b", " ", "a", "\xc3\xa4"});
  CHECK(field_of(*all, 1, 0) == Tokens{0, 4, 2, 5});
  options.vocabulary = 8;
  CHECK(open_texts(options)->vocabulary()->size() == 8);
  CHECK(open_texts(options)->vocabulary()->words()[7].empty());
}

TEST_CASE("another split has the training split's vocabulary, and so has the part of one") {
  const test::TemporaryFolder folder;
  const auto train = open_texts(posts(folder));
  const Opening opening = following({}, *train);
  const auto val = open_texts(posts(folder, "topic,post\nsport,a and snow rain\n"), opening);
  CHECK(val->vocabulary()->words() == train->vocabulary()->words());
  CHECK(field_of(*val, 1, 0) == Tokens{3, 4, 1, 2});
  TextsOptions other = posts(folder);
  other.unit = TextUnit::characters;
  CHECK(texts_message(other, opening) ==
        "TEXTS is read with another 'unit' than the training split; give both the same");
  std::string rows = "post,topic\n";
  for (int i = 0; i < 20; ++i) rows += "w" + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  TextsOptions divided = posts(folder, rows);
  divided.vocabulary = 0;
  const auto part = open_texts(divided, {.seed = 1}, RowsPart{0.2, Part::train});
  const auto held_out = open_texts(divided, {.seed = 1}, RowsPart{0.2, Part::val});
  CHECK(part->vocabulary()->size() == 18);
  CHECK(held_out->vocabulary()->words() == part->vocabulary()->words());
  CHECK(field_of(*held_out, 1, 0) == Tokens{0, 0, 0, 1});
  CHECK(held_out->size() == 4);
}

TEST_CASE("what is wrong in a file of texts is named with its line") {
  CHECK(posts_message("post,topic\nx,a\n ,b\n") ==
        "TEXTS, line 3: column 'post': has no text; correct it, or set 'missing: drop'");
  CHECK(posts_message("post,topic\nx,\n") == "TEXTS, line 2: has no label: its cell is empty");
  CHECK(posts_message("post,topic\n\"x\ny\",a\nz\n") ==
        "TEXTS, line 4: has 1 cell, expected 2 (post, topic)");
  CHECK(posts_message("post,topics\nx,a\n") ==
        "TEXTS has the columns post, topics, but none named 'topic': 'columns.label' names "
        "a column of the first line; did you mean 'topics'?");
  CHECK(posts_message("post\ttopic\nx\ta\n") ==
        "TEXTS has the columns post\ttopic, but none named 'post': 'columns.text' names a "
        "column of the first line; its cells seem to be divided otherwise: set 'separator: tab'");
  CHECK(posts_message("") == "TEXTS is empty; expected rows of cells");
  CHECK(posts_message("post,topic\nx\xff,a\n") ==
        "TEXTS, line 2: holds bytes that are not UTF-8; save it as UTF-8");
  const test::TemporaryFolder folder;
  TextsOptions options = posts(folder, "post,topic\nx,a\n,b\ny,\nz,b\n");
  options.missing = MissingRow::drop;
  const auto dropped = open_texts(options);
  CHECK(dropped->size() == 2);
  CHECK(dropped->origin(1) == 3);
  CHECK(dropped->class_names() == Words{"a", "b"});
}

}  // namespace trainyard
