// The words of a line that is being typed in bash, and words as they are typed there.
#include "cli/shell_line.h"

#include <doctest/doctest.h>

#include <array>

#include "base/text.h"

namespace trainyard::cli {
namespace {

/// The words with bars between, and the quote that is open at the end.
std::string words_text(std::string_view line) {
  std::vector<std::string> texts;
  const std::vector<ShellWord> words = shell_words(line);
  for (const ShellWord& word : words) texts.push_back(word.text);
  const char quote = words.back().quote;
  return joined(texts, "|") + (quote == '\0' ? "" : std::string(" in ") + quote);
}

}  // namespace

TEST_CASE("a line that may end anywhere has the words that bash would pass on") {
  constexpr std::array<std::array<std::string_view, 2>, 14> kLines{{
      {"", ""},
      {"train", "train"},
      {"train ", "train|"},
      {"  train \t check", "train|check"},
      {"train a\\ b", "train|a b"},
      {"train 'a b", "train|a b in '"},
      {"train 'a b'", "train|a b"},
      {"train 'a b' ", "train|a b|"},
      {"train 'a\\'b", "train|a\\b"},
      {R"(train "a\"b\c" d)", R"(train|a"b\c|d)"},
      {R"(train x'y'"z")", "train|xyz"},
      {"train it\\'s", "train|it's"},
      {"train ''", "train|"},
      {"train a\\", "train|a\\"},
  }};
  for (const auto& [line, words] : kLines) {
    CAPTURE(line);
    CHECK(words_text(line) == words);
  }
}

TEST_CASE("what is typed for a word is that word again, in quotes and without") {
  for (const char quote : {'\0', '\'', '"'}) {
    for (const char* text :
         {"runs/lr", "a b", "it's", "say \"x\"", "$HOME/`x`", "a\\b", "*?[1]", "é;&|<>()#!"}) {
      CAPTURE(text);
      const std::string opened = quote == '\0' ? "train " : std::string("train ") + quote;
      const std::vector<ShellWord> words = shell_words(opened + typed_text(text, quote));
      REQUIRE(words.size() == 2);
      CHECK(words[1].text == text);
      CHECK(words[1].quote == quote);
    }
  }
  CHECK(typed_text("optimizer.sgd.lr=", '\0') == "optimizer.sgd.lr=");
  CHECK(typed_text("my run", '\0') == "my\\ run");
}

}  // namespace trainyard::cli
