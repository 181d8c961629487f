#include "data/text/text_windows.h"

#include <doctest/doctest.h>

#include "config/load.h"
#include "data/sets/subset.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

struct TextFile {
  test::TemporaryFolder folder;
  TextOptions options(const std::string& text) const {
    TextOptions options;
    options.file = folder.write("a.txt", text).string();
    options.length = 3;
    options.stride = 2;
    return options;
  }
};

std::string text_in(const Dataset& set, std::size_t field, std::int64_t index) {
  return set.vocabulary()->text_of(field_of(set, field, index));
}

std::string text_message(const TextOptions& options) {
  return message_of(ErrorKind::data, [&] { (void)open_text(options); });
}

}  // namespace

TEST_CASE("windows begin at every stride and are followed by their label, as in Keras's example") {
  const TextFile file;
  const auto set = open_text(file.options("abcdefgh"));
  CHECK(set->size() == 3);  // range(0, 8 - 3, 2)
  CHECK(set->classes() == 8);
  CHECK(text_in(*set, 1, 0) == "abc");
  CHECK(text_in(*set, 0, 0) == "d");
  CHECK(text_in(*set, 1, 2) == "efg");
  CHECK(text_in(*set, 0, 2) == "h");
  CHECK(set->vocabulary()->words()[static_cast<std::size_t>(set->label(2))] == "h");
  CHECK(open_text(file.options("abcdefg"))->size() == 2);
  CHECK(open_text(file.options("abcd"))->size() == 1);
}

TEST_CASE("with a label of every position it is the token after each") {
  const TextFile file;
  TextOptions options = file.options("abcdefgh");
  options.predict = Predicted::every;
  const auto set = open_text(options);
  CHECK(text_in(*set, 1, 1) == "cde");
  CHECK(text_in(*set, 0, 1) == "def");
  CHECK(set->fields()[0].shape == Shape{3});
}

TEST_CASE("a text is read as characters, bytes or words, in small letters if that is asked for") {
  const TextFile file;
  TextOptions options = file.options("\xef\xbb\xbf\xc3\x84 Be BE b");
  options.lower_case = true;
  CHECK(text_in(*open_text(options), 1, 0) == "\xc3\x84 b");
  options.unit = TextUnit::words;
  const auto words = open_text(options);
  CHECK(words->size() == 1);
  CHECK(words->classes() == 3);
  CHECK(text_in(*words, 1, 0) == "\xc3\x84 be be");
  CHECK(text_in(*words, 0, 0) == "b");
  options.unit = TextUnit::bytes;
  CHECK(open_text(options)->classes() == 256);
  CHECK(text_in(*open_text(options), 1, 0) == "\xef\xbb\xbf");
}

TEST_CASE("the end of a text is for validation, with the vocabulary of what is before it") {
  const TextFile file;
  TextOptions options = file.options("aabbaabbaabbccaa");
  options.vocabulary = 5;
  const auto train = open_text_part(options, 0.3, Part::train);
  const auto val = open_text_part(options, 0.3, Part::val);
  CHECK(train->size() == 5);  // windows of 12 letters
  CHECK(val->size() == 1);    // window of floor(16 * 0.3) = 4
  CHECK(val->vocabulary()->words() == std::vector<std::string>{"<unknown>", "a", "b", "", ""});
  CHECK(text_in(*val, 1, 0) == "<unknown><unknown>a");
  options.vocabulary = 0;
  CHECK(message_of(ErrorKind::data, [&] { (void)open_text_part(options, 0.3, Part::val); }) ==
        "'" + options.file.string() +
            "', line 1, byte 13: \"c\" is not in the vocabulary; a vocabulary of a given size "
            "('vocabulary: 100') has a token for what is unknown");
}

TEST_CASE("val_fraction cuts a text at its end, not by class") {
  const TextFile file;
  const test::TemporaryFolder folder;
  const std::string name = folder.write("b.txt", "aaaaaaaaaabbbbbb").string();
  config::Diagnostics diagnostics;
  const config::Node node = config::parse_yaml(
      "{source: text, file: " + name + ", vocabulary: 4, length: 3, stride: 1}", "r.yaml");
  config::Fields fields(node, nullptr, "train", config::Profile::keras2, diagnostics);
  std::shared_ptr<const DatasetSource> source;
  fields.select("source", source, "", dataset_kinds());
  fields.finish();
  diagnostics.raise();
  const auto val = part_source(source, 0.25, Part::val)->open({.seed = 1});
  CHECK(val->size() == 1);
  CHECK(part_source(source, 0.25, Part::train)->open({.seed = 1})->size() == 9);
}

TEST_CASE("a vocabulary can be that of another text, or the file of a run") {
  const TextFile file;
  TextOptions options = file.options("abab");
  options.vocabulary_from = file.folder.write("b.txt", "xbay").string();
  CHECK(field_of(*open_text(options), 1, 0) == std::vector<std::int32_t>{0, 1, 0});
  CHECK(open_text(options)->classes() == 4);
  const Vocabulary kept(TextUnit::characters, {"b", "a"});
  options.vocabulary_from = file.folder.write("v.json", vocabulary_json(kept)).string();
  CHECK(field_of(*open_text(options), 1, 0) == std::vector<std::int32_t>{1, 0, 1});
  options.unit = TextUnit::words;
  CHECK(text_message(options) == "'" + options.vocabulary_from.string() +
                                     "' is a vocabulary of another 'unit' than the source's");
}

TEST_CASE("a hostile text is refused with its file, line and byte") {
  const TextFile file;
  const std::string advice = "; convert the file, or set 'unit: bytes'";
  CHECK(text_message(file.options("ab\ncd\xfe")) ==
        "'" + (file.folder / "a.txt").string() + "', line 2, byte 3: 0xfe is not UTF-8" + advice);
  CHECK(text_message(file.options(std::string("abcd\0e", 6))) ==
        "'" + (file.folder / "a.txt").string() + "', line 1, byte 5: a zero byte" + advice);
  CHECK(text_message(file.options("")) ==
        "'" + (file.folder / "a.txt").string() + "' is empty; expected a text");
  CHECK(text_message(file.options("abc")) ==
        "'" + (file.folder / "a.txt").string() +
            "' has 3 tokens, expected at least 4: one more than 'length'");
  TextOptions part = file.options("abcdefgh");
  part.vocabulary = 9;
  CHECK(message_of(ErrorKind::data, [&] { (void)open_text_part(part, 0.1, Part::val); }) ==
        "'" + (file.folder / "a.txt").string() +
            "' its validation part has 0 tokens, expected at least 4: one more than 'length'");
}

TEST_CASE("a text of more than 1 GiB, on one line, is refused before it is read") {
  const TextFile file;
  const TextOptions options = file.options("a");
  std::filesystem::resize_file(options.file.path, (std::uintmax_t{1} << 30) + 1);  // a hole
  CHECK(test::holds(text_message(options), "1073741825 bytes"));
}

TEST_CASE("the fingerprint of a text follows what its windows are") {
  const TextFile file;
  const TextOptions options = file.options("abcdefgh");
  const std::string one = open_text(options)->fingerprint();
  CHECK(open_text(options)->fingerprint() == one);
  TextOptions other = options;
  other.stride = 1;
  CHECK(open_text(other)->fingerprint() != one);
  other = options;
  other.predict = Predicted::every;
  CHECK(open_text(other)->fingerprint() != one);
  CHECK(open_text(file.options("abcdefgi"))->fingerprint() != one);
}

}  // namespace trainyard
