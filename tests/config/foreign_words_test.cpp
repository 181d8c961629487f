// The table of words of other programs. That each suggestion works:
// tests/run/foreign_words_test.cpp.
#include "config/foreign_words.h"

#include <doctest/doctest.h>

#include <set>

#include "base/text.h"

using namespace trainyard;
using namespace trainyard::config;

TEST_CASE("a word of another program is known in any spelling, where it has the meaning") {
  for (const char* word : {"early_stopping", "EarlyStopping", "early-stopping"}) {
    REQUIRE(foreign_word(word, "run") != nullptr);
    CHECK(foreign_word(word, "run")->here == "early_stop");
  }
  CHECK(foreign_word("early_stopping", "conv") == nullptr);
  CHECK(foreign_word("early", "run") == nullptr);
  CHECK(foreign_word("", "run") == nullptr);
}

TEST_CASE("a meaning says what it is here, and what that is") {
  CHECK(meaning_text(*foreign_word("acc", "metrics")) == "; here it is 'accuracy'");
  CHECK(meaning_text(*foreign_word("activation", "conv")) ==
        "; here it is a layer of its own, 'relu'");
  CHECK(meaning_text(*foreign_word("output_dir", "run")) == "; here it is the flag '--out'");
  CHECK(meaning_text(*foreign_word("in_channels", "conv")) ==
        "; here it is that of the input; leave it out");
}

TEST_CASE("the table has hundreds of words, and each once in a place") {
  std::set<std::string> words, pairs;
  for (const ForeignWord& row : foreign_words()) {
    for (const std::string& word : split(row.words, ' ')) {
      CAPTURE(word);
      CHECK(!word.empty());
      CHECK(lower_case(word) == word);
      CHECK(word.find_first_of("_-.") == word.npos);
      words.insert(word);
      for (const std::string& place : split(row.places, ' ')) {
        CAPTURE(place);
        CHECK(pairs.insert(word + " in " + place).second);
      }
    }
  }
  CHECK(words.size() >= 200);
}
