// What may come next in a command line, for completion by shells. All of it is declared elsewhere:
// verbs and flags to CLI11, the words of a flag as its type name (cli|json), keys to
// config::Fields.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trainyard::cli {

/// A word as a whole; one that ends in '.', '=' or '/' is to be continued.
struct Candidate {
  std::string text;
  std::string help;
};

/// `paths`: what a shell lists if there are no candidates.
struct Completion {
  enum class Paths { none, folders, files };
  std::vector<Candidate> candidates = {};
  Paths paths = Paths::none;
};

/// The completion of the last of `words`, which follow the name of the program. Without quotes.
[[nodiscard]] Completion completion_of(const CLI::App& program, std::vector<std::string> words);

/// A line for each candidate, its text and its help with a tab between, or ":files" or ":folders".
[[nodiscard]] std::string completion_lines(const Completion& completion);

}  // namespace trainyard::cli
