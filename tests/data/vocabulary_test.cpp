#include "data/sets/vocabulary.h"

#include <doctest/doctest.h>

#include "data/text/text_units.h"
#include "helpers.h"

namespace trainyard {

using test::message_of;

namespace {

std::string json_message(const std::string& json) {
  return message_of(ErrorKind::data, [&] { (void)parse_vocabulary(json, "v.json"); });
}

std::vector<std::string> words_in(const std::string& text, TextUnit unit, std::int64_t size,
                                  std::int64_t count = 1000) {
  return vocabulary_of_text(text, unit, count, size, "a.txt").words();
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a vocabulary of all units has them in the order of their bytes") {
  CHECK(words_in("b\xc3\xa4 ab", TextUnit::characters, 0) == Words{" ", "a", "b", "\xc3\xa4"});
  CHECK(words_in(" to be\nor\tnot to be ", TextUnit::words, 0) == Words{"be", "not", "or", "to"});
  CHECK(words_in("abc", TextUnit::characters, 0, 2) == Words{"a", "b"});
}

TEST_CASE("a vocabulary of a given size has what is unknown, then the most frequent units") {
  CHECK(words_in("ccbba", TextUnit::characters, 3) == Words{"<unknown>", "b", "c"});
  CHECK(words_in("ccbba", TextUnit::characters, 6) == Words{"<unknown>", "b", "c", "a", "", ""});
  CHECK(words_in("x <unknown> <unknown>", TextUnit::words, 2) == Words{"<unknown>", "x"});
}

TEST_CASE("tokens stand for units, and text is made of them again") {
  const Vocabulary words = vocabulary_of_text("to be or not to be", TextUnit::words, 9, 4, "a");
  const std::vector<std::int32_t> tokens = tokens_of_text("be  not\nnever to", words, "a");
  CHECK(tokens == std::vector<std::int32_t>{1, 3, 0, 2});
  CHECK(words.text_of(tokens) == "be not <unknown> to");
  const Vocabulary bytes = byte_vocabulary();
  const std::string all("\0\xff z", 4);
  CHECK(tokens_of_text(all, bytes, "a") == std::vector<std::int32_t>{0, 255, 32, 122});
  CHECK(bytes.text_of(tokens_of_text(all, bytes, "a")) == all);
}

TEST_CASE("a unit that is not in the vocabulary is named with its place") {
  const Vocabulary vocabulary = vocabulary_of_text("ab\n", TextUnit::characters, 9, 0, "a.txt");
  CHECK(message_of(ErrorKind::data, [&] { (void)tokens_of_text("ab\nax", vocabulary, "b.txt"); }) ==
        "'b.txt', line 2, byte 2: \"x\" is not in the vocabulary; a vocabulary of a given size "
        "('vocabulary: 100') has a token for what is unknown");
}

TEST_CASE("text that is not UTF-8, a zero byte and an endless word are refused with their place") {
  const auto message = [](const std::string& text) {
    return message_of(ErrorKind::data, [&] { require_utf8(text, "a.txt", "; convert it"); });
  };
  CHECK(message("\xc3\xa4\xf0\x9f\x98\x80") == "no error");
  CHECK(message("ab\nc\xff") == "'a.txt', line 2, byte 2: 0xff is not UTF-8; convert it");
  CHECK(message("\xc3") == "'a.txt', line 1, byte 1: 0xc3 is not UTF-8; convert it");
  CHECK(message(std::string("ab\0", 3)) == "'a.txt', line 1, byte 3: a zero byte; convert it");
  CHECK(message_of(ErrorKind::data,
                   [] { (void)words_in("a\n b" + std::string(70000, 'x'), TextUnit::words, 0); }) ==
        "'a.txt', line 2, byte 2: a word of 70001 bytes, expected at most 65536; for text "
        "without blanks set 'unit: characters'");
}

TEST_CASE("a vocabulary is the same once it is written and read") {
  const Vocabulary made(TextUnit::characters, {"<unknown>", "\n", "\"", "\xc3\xa4", "", ""}, 0);
  const Vocabulary read = parse_vocabulary(vocabulary_json(made), "v.json");
  CHECK(read.words() == made.words());
  CHECK(read.unknown() == 0);
  CHECK(read.unit() == TextUnit::characters);
  CHECK(read.find("\n") == 1);
  CHECK(read.find("x") == 0);
  CHECK(parse_vocabulary(vocabulary_json(byte_vocabulary()), "v.json").words() ==
        byte_vocabulary().words());
  CHECK_FALSE(parse_vocabulary(vocabulary_json(numbered_vocabulary(3)), "v.json").find("x"));
}

TEST_CASE("a file that is no vocabulary is refused with the reason") {
  CHECK(json_message(R"({"unit": "lines"})") ==
        "'v.json' is not a vocabulary: unit 'lines', expected 'characters', 'bytes' or 'words'");
  CHECK(json_message(R"({"unit": "words", "unknown": null, "size": 2, "words": ["a"]})") ==
        "'v.json' is not a vocabulary: it has 1 words and the size 2");
  CHECK(json_message(R"({"unit": "words", "unknown": 1, "size": 1, "words": ["a"]})") ==
        "'v.json' is not a vocabulary: its unknown token is 1, expected 0 to 0");
  CHECK(json_message(R"({"unit": "words", "unknown": null, "size": 2, "words": ["a", "a"]})") ==
        "a vocabulary has the word \"a\" twice, the second time as token 1");
  for (const char* numbers :
       {R"("unknown": null, "size": 1.9)", R"("unknown": 0.5, "size": 1)",
        R"("unknown": false, "size": 1)", R"("unknown": null, "size": true)"}) {
    CHECK(test::holds(
        json_message(R"({"unit": "words", "words": ["a"], )" + std::string(numbers) + "}"),
        "as a run's vocabulary.json"));
  }
  CHECK(test::holds(json_message(R"({"unit": "words"})"), "as a run's vocabulary.json"));
  CHECK(test::holds(json_message("["), "v.json:1:"));
}

}  // namespace trainyard
