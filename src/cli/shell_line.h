// A command line as bash has it while it is being typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

struct ShellWord {
  std::string text;   // without quotes
  char quote = '\0';  // ' or " if the line ends within it
};

/// The words of a line that may end anywhere; the last one is being typed, "" after a blank.
[[nodiscard]] std::vector<ShellWord> shell_words(std::string_view line);

/// `text` as it is typed within `quote`, which stays open, or outside of quotes ('\0').
[[nodiscard]] std::string typed_text(std::string_view text, char quote);

}  // namespace trainyard::cli
