#include "cli/shell_line.h"

#include <cctype>

namespace trainyard::cli {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kSpecialInDoubleQuotes = "\"\\$`";

bool escapes(char quote, char next) {
  if (quote == '"') return kSpecialInDoubleQuotes.find(next) != std::string_view::npos;
  return quote == '\0';
}

bool is_plain(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code >= 0x80 || std::isalnum(code) != 0 ||
         std::string_view("_-+=:,./@%").find(letter) != std::string_view::npos;
}

}  // namespace

std::vector<ShellWord> shell_words(std::string_view line) {
  std::vector<ShellWord> words;
  bool between = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if ((between || words.back().quote == '\0') && kBlanks.find(letter) != kBlanks.npos) {
      between = true;
      continue;
    }
    if (between) words.emplace_back();
    between = false;
    ShellWord& word = words.back();
    if (letter == word.quote) {
      word.quote = '\0';
    } else if (word.quote == '\0' && (letter == '\'' || letter == '"')) {
      word.quote = letter;
    } else if (letter == '\\' && i + 1 < line.size() && escapes(word.quote, line[i + 1])) {
      word.text += line[++i];
    } else {
      word.text += letter;
    }
  }
  if (between) words.emplace_back();
  return words;
}

std::string typed_text(std::string_view text, char quote) {
  std::string typed;
  for (const char letter : text) {
    if (quote == '\'' && letter == '\'') {
      typed += "'\\'";
    } else if (quote == '"' ? escapes(quote, letter) : quote == '\0' && !is_plain(letter)) {
      typed += '\\';
    }
    typed += letter;
  }
  return typed;
}

}  // namespace trainyard::cli
