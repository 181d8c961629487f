#include "word_rules.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace trainyard::layers {

namespace {

struct Ban {
  std::string_view word;
  std::string_view where;                // beginning of the paths in which it is banned
  std::vector<std::string_view> except;  // beginnings of paths below `where` that may use it
  std::string_view reason;
};

const std::vector<std::string_view>& printers() {
  static const std::vector<std::string_view> paths = {"src/cli/", "src/main.cpp"};
  return paths;
}

const std::vector<Ban>& bans() {
  constexpr std::string_view kPrints = "only cli prints";
  constexpr std::string_view kReads = "only cli reads the environment";
  constexpr std::string_view kSleeps = "a test waits for events, never for time";
  static const std::vector<Ban> list = {
      {"std::cout", "src/", printers(), kPrints},
      {"std::cerr", "src/", printers(), kPrints},
      {"std::clog", "src/", printers(), kPrints},
      {"printf", "src/", printers(), kPrints},
      {"puts", "src/", printers(), kPrints},
      {"fmt::print", "src/", printers(), kPrints},
      {"stdout", "src/", printers(), kPrints},
      {"stderr", "src/", printers(), kPrints},
      {"getenv", "src/", printers(), kReads},
      {"secure_getenv", "src/", printers(), kReads},
      {"environ", "src/", printers(), kReads},
      {"setenv", "src/", printers(), kReads},
      {"using namespace", "src/", {}, "names are written out in src"},
      {"exit", "src/", printers(), "a library throws, it does not end the program"},
      {"abort", "src/", printers(), "a library throws, it does not end the program"},
      {"random_device", "", {}, "every draw is a function of the seed"},
      {"sleep_for", "tests/", {}, kSleeps},
      {"sleep_until", "tests/", {}, kSleeps},
      {"usleep", "tests/", {}, kSleeps},
      {"nanosleep", "tests/", {}, kSleeps},
      {"sleep", "tests/", {}, kSleeps},
      {"#pragma GCC diagnostic", "", {}, "warnings are fixed, not silenced"},
      {"#pragma clang diagnostic", "", {}, "warnings are fixed, not silenced"},
  };
  return list;
}

/// Offsets of `word` in `text` with no letter, digit or underscore next to it.
std::vector<std::size_t> places_of(std::string_view word, std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      places.push_back(at);
  }
  return places;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

std::vector<Finding> misplaced_words(const SourceFile& file) {
  std::vector<Finding> findings;
  for (const Ban& ban : bans()) {
    const bool excepted =
        std::ranges::any_of(ban.except, [&](auto path) { return file.under(path); });
    if (!file.under(ban.where) || excepted) continue;
    for (const std::size_t at : places_of(ban.word, file.code)) {
      findings.push_back({file.path, line_of(file.code, at),
                          "'" + std::string(ban.word) + "': " + std::string(ban.reason)});
    }
  }
  return findings;
}

std::vector<Finding> unfinished_work(const SourceFile& file) {
  // Written in two halves so that this file does not break its own rule.
  static const std::vector<std::string> marks = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "XX"
      "X",
      "HA"
      "CK"};
  std::vector<Finding> findings;
  const std::string text = upper(file.text);
  for (const std::string& mark : marks) {
    for (const std::size_t at : places_of(mark, text)) {
      findings.push_back({file.path, line_of(text, at), "'" + mark + "': finish it"});
    }
  }
  return findings;
}

std::vector<Finding> unguarded_headers(const SourceFile& file) {
  if (!file.is_header() || file.code.find("#pragma once") != std::string::npos) return {};
  return {{file.path, 1, "a header begins with #pragma once"}};
}

namespace {

/// True if `name` is one of the line's words.
bool names(std::string_view line, std::string_view name) {
  const auto ends = [&](std::size_t at) {
    return at == line.size() || line[at] == ' ' || line[at] == ')';
  };
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    if ((at == 0 || line[at - 1] == ' ') && ends(at + name.size())) return true;
  }
  return false;
}

}  // namespace

std::vector<Finding> unlisted_sources(const std::vector<SourceFile>& files,
                                      const std::vector<SourceFile>& lists) {
  std::vector<Finding> findings;
  for (const SourceFile& file : files) {
    if (file.is_header()) continue;
    const bool listed = std::ranges::any_of(lists, [&](const SourceFile& list) {
      const std::string folder = folder_of(list.path);
      if (!file.under(folder)) return false;
      const auto lines = lines_of(list.text);
      return std::ranges::any_of(lines, [&](std::string_view line) {
        return names(line.substr(0, line.find('#')), file.path.substr(folder.size()));
      });
    });
    if (!listed) findings.push_back({file.path, 1, "no CMakeLists.txt names this file"});
  }
  return findings;
}

}  // namespace trainyard::layers
