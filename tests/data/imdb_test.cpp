#include "data/text/imdb.h"

#include <doctest/doctest.h>

#include "data/text/keras_words.h"
#include "data/text/texts.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

const std::string kHeader = "label\trating\tid\ttext\n";

std::string table_message(const std::string& table) {
  return message_of(ErrorKind::data, [&] { (void)parse_text_table(table, "a.tsv"); });
}

std::string index_message(const std::string& json) {
  return message_of(ErrorKind::data, [&] { (void)parse_word_index(json, "i.json"); });
}

/// Two training reviews and one test review, with an index.
struct Reviews {
  test::TemporaryFolder folder;
  ImdbOptions options() const {
    folder.write("imdb/train.tsv", kHeader + "1\t9\t0\tA good film, good!\n0\t2\t1\tBad film.\n");
    folder.write("imdb/test.tsv", kHeader + "1\t9\t0\tGood unseen film\n");
    folder.write("imdb/imdb_word_index.json", R"({"good": 1, "film": 2, "bad": 3, "a": 4})");
    ImdbOptions options;
    options.root = folder.text();
    options.vocabulary = 7;
    options.length = 4;
    return options;
  }
};

using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("reviews are numbered, cut and padded as Keras does it") {
  const Reviews reviews;
  ImdbOptions options = reviews.options();
  const auto set = open_imdb(options);
  REQUIRE(set->size() == 2);
  CHECK(set->class_names() == std::vector<std::string>{"negative", "positive"});
  const std::int64_t positive = set->label(0) == 1 ? 0 : 1;
  CHECK(set->label(1 - positive) == 0);
  // 1, then a (4 + 3 is not below 7: 2), good (4), film (5), good (4): the last four.
  CHECK(field_of(*set, 1, positive) == Tokens{2, 4, 5, 4});
  CHECK(field_of(*set, 1, 1 - positive) == Tokens{0, 1, 6, 5});
  CHECK(set->fields()[2] == SampleField{.name = "length", .padding = PaddingSide::front});
  CHECK(field_of(*set, 2, positive) == Tokens{4});
  CHECK(field_of(*set, 2, 1 - positive) == Tokens{3});
  CHECK(set->vocabulary()->words() == std::vector<std::string>{"<pad>", "<start>", "<unknown>",
                                                               "<unused>", "good", "film", "bad"});
  options.split = Split::test;
  const auto test = open_imdb(options);
  CHECK(test->size() == 1);
  CHECK(field_of(*test, 1, 0) == Tokens{0, 1, 4, 5});  // 'unseen' is left out
  CHECK(test->fingerprint() != set->fingerprint());
}

TEST_CASE("the published folders give the samples of the table") {
  const Reviews reviews;
  const ImdbOptions options = reviews.options();
  const test::TemporaryFolder folder;
  folder.write("aclImdb/train/pos/0_9.txt", "A good film, good!");
  folder.write("aclImdb/train/neg/1_2.txt", "Bad film.");
  folder.write("aclImdb/imdb_word_index.json", R"({"good": 1, "film": 2, "bad": 3, "a": 4})");
  ImdbOptions published = options;
  published.root = folder.text();
  CHECK(open_imdb(published)->fingerprint() == open_imdb(options)->fingerprint());
  published.split = Split::test;
  CHECK(message_of(ErrorKind::data, [&] { (void)open_imdb(published); }) ==
        "'" + (folder / "aclImdb/test/pos").string() +
            "' cannot be read: No such file or directory");
  std::filesystem::create_directories(folder / "aclImdb/test/pos");
  CHECK(message_of(ErrorKind::data, [&] { (void)open_imdb(published); }) ==
        "'" + (folder / "aclImdb/test/pos").string() +
            "' has no .txt files; expected one for each text");
  folder.write("aclImdb/test/pos/0_1.txt", "ab\xff");
  CHECK(message_of(ErrorKind::data, [&] { (void)open_imdb(published); }) ==
        "'" + (folder / "aclImdb/test/pos/0_1.txt").string() +
            "', line 1, byte 3: 0xff is not UTF-8; convert the file to UTF-8");
}

TEST_CASE("without Keras's index its absence is named, or words are counted if that is asked for") {
  const Reviews reviews;
  ImdbOptions options = reviews.options();
  std::filesystem::remove(reviews.folder / "imdb/imdb_word_index.json");
  const std::string message = message_of(ErrorKind::data, [&] { (void)open_imdb(options); });
  CHECK(holds(message, "imdb_word_index.json' does not exist; get it with: curl -L https://"));
  CHECK(holds(message, "or set 'word_ranks: counted'"));
  options.word_ranks = WordRanks::counted;
  CHECK(open_imdb(options)->vocabulary()->words() ==
        std::vector<std::string>{"<pad>", "<start>", "<unknown>", "<unused>", "good", "film", "a"});
}

TEST_CASE("words are found as Keras's Tokenizer finds them") {
  const WordIndex index = counted_index({"It's an \"A+\" film;\ta film\\of\n(note) \xc3\x84rger"});
  CHECK(index.size() == 7);
  CHECK(index.at("a") == 1);
  CHECK(index.at("film") == 2);
  CHECK(index.at("it's") == 3);
  CHECK(index.at("an") == 4);
  CHECK(index.at("of") == 5);
  CHECK(index.at("note") == 6);
  CHECK(index.at("\xc3\x84rger") == 7);
}

TEST_CASE("a table's escapes stand for tabs, line ends and backslashes") {
  const LabelledTexts read = parse_text_table("text\tlabel\na\\tb\\nc\\\\d\\re\t1\n", "a.tsv");
  CHECK(read.texts == std::vector<std::string>{"a\tb\nc\\d\re"});
  CHECK(read.labels == Tokens{1});
}

TEST_CASE("a bad table is refused with its line") {
  CHECK(table_message("") == "'a.tsv' is empty; expected rows of cells");
  CHECK(table_message("label\tid\n1\t2\n") ==
        "'a.tsv' has the columns label, id, but none named 'text': the first line is to name the "
        "columns label and text");
  CHECK(table_message("label\ttext\n1\ta\tb\n") ==
        "'a.tsv', line 2: has 3 cells, expected 2 (label, text)");
  CHECK(table_message("label\ttext\n0\ta\n2\ta\n") ==
        "'a.tsv', line 3: label '2', expected 0 or 1");
  CHECK(table_message("label\ttext\n0\ta\\x\n") ==
        "'a.tsv', line 2: has a backslash that begins none of \\\\, \\t, \\n, \\r; write a "
        "backslash as \\\\");
  CHECK(table_message("label\ttext\n0\ta\\\n") ==
        "'a.tsv', line 2: has a backslash that begins none of \\\\, \\t, \\n, \\r; write a "
        "backslash as \\\\");
  CHECK(table_message("label\ttext\n0\ta\xff\n") ==
        "'a.tsv', line 2, byte 4: 0xff is not UTF-8; convert the table to UTF-8");
  CHECK(table_message(std::string("label\ttext\n0\t\0\n", 15)) ==
        "'a.tsv', line 2, byte 3: a zero byte; convert the table to UTF-8");
  CHECK(table_message("label\ttext\n0\t" + std::string(1 << 20, 'a')) ==
        "'a.tsv', line 2: is 1048578 bytes long, expected at most 1048576");
}

TEST_CASE("a word index that is none is refused with the reason") {
  const std::string expected = "; expected an object of words and ranks: {\"the\": 1, ...}";
  CHECK(index_message("[1]") == "'i.json': it is not an object" + expected);
  CHECK(index_message("{}") == "'i.json': it has no words" + expected);
  CHECK(index_message(R"({"a": 0})") ==
        "'i.json': the rank of \"a\" is 0, no whole number from 1" + expected);
  CHECK(index_message(R"({"a": 1.5})") ==
        "'i.json': the rank of \"a\" is 1.5, no whole number from 1" + expected);
  CHECK(index_message(R"({"a": 1, "b": 1})") ==
        "'i.json': two words have rank 1, one of them \"b\"" + expected);
}

TEST_CASE("missing reviews are searched for and their download is named") {
  const test::TemporaryFolder folder;
  ImdbOptions options;
  options.root = folder.text();
  const std::string message = message_of(ErrorKind::data, [&] { (void)open_imdb(options); });
  CHECK(holds(message, "cannot find the IMDB reviews: no train.tsv in "));
  CHECK(holds(message, "get them with: train data get imdb --to "));
}

}  // namespace trainyard
