#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <string_view>

#include "rules.h"

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

std::vector<Finding> unplain_words(const SourceFile& file) {
  static const std::vector<std::string> before = {"/ ", "\"", ". ", "# ", "| ", "\n"};
  static const std::vector<std::string> openings = {"Of ", "Those "};
  static const std::vector<std::pair<std::string_view, std::string_view>> words = {
      {"picture", "image"},
      {"rival", "a key that excludes another"},
      {"own kernels", "our kernels"},
      {"drawn shapes", "simple shapes"},
      {"processor threads", "CPU threads"}};
  std::vector<Finding> findings;
  if (file.under("tests/layers/")) return findings;  // quotes them
  for (const std::string& mark : before) {
    for (const std::string& opening : openings) {
      const std::string start = mark + opening;
      for (std::size_t at = file.text.find(start); at != std::string::npos;
           at = file.text.find(start, at + 1)) {
        findings.push_back({file.path, line_of(file.text, at + mark.size()),
                            "a sentence begins with its noun, not with '" + opening + "'"});
      }
    }
  }
  for (const auto& [word, plain] : words) {
    for (const std::size_t at : places_of(word, file.text)) {
      if (file.code.compare(at, word.size(), word) == 0) continue;  // a name
      findings.push_back({file.path, line_of(file.text, at),
                          "'" + std::string(word) + "': say '" + std::string(plain) + "'"});
    }
  }
  return findings;
}

std::vector<Finding> unguarded_headers(const SourceFile& file) {
  if (!file.is_header() || file.code.find("#pragma once") != std::string::npos) return {};
  return {{file.path, 1, "a header begins with #pragma once"}};
}

namespace {

/// The names and patterns of a list: its words, and "*.cpp" for a library that names none.
std::vector<std::string> sources_named(const SourceFile& list) {
  std::vector<std::string> names;
  bool library = false;  // the word before names a library
  for (const std::string_view line : lines_of(list.text)) {
    std::istringstream words{std::string(line.substr(0, line.find('#')))};
    for (std::string word; words >> word;) {
      if (library && word != "SOURCES") names.emplace_back("*.cpp");
      library = word.starts_with("ty_library(") || word.starts_with("ty_cuda_library(");
      const bool ends = word.ends_with(')');
      if (ends) word.pop_back();
      if (library && ends) names.emplace_back("*.cpp");
      library = library && !ends;
      names.push_back(std::move(word));
    }
  }
  return names;
}

}  // namespace

std::vector<Finding> unlisted_sources(const std::vector<SourceFile>& files,
                                      const std::vector<SourceFile>& lists) {
  std::vector<Finding> findings;
  std::vector<std::vector<std::string>> named;
  for (const SourceFile& list : lists) named.push_back(sources_named(list));
  for (const SourceFile& file : files) {
    if (file.is_header()) continue;
    bool listed = false;
    for (std::size_t i = 0; i < lists.size() && !listed; ++i) {
      const std::string folder = folder_of(lists[i].path);
      listed = file.under(folder) && std::ranges::any_of(named[i], [&](const std::string& name) {
                 return fnmatch(name.c_str(), file.path.c_str() + folder.size(), FNM_PATHNAME) == 0;
               });
    }
    if (!listed) findings.push_back({file.path, 1, "no CMakeLists.txt names this file"});
  }
  return findings;
}

}  // namespace trainyard::layers
