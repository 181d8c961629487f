// Suggestions for a command line that cannot be parsed.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace trainyard::cli {

/// Arguments as typed: `train FILE.yaml` and `train --config x` get the verb `train`, `help` and
/// `version` become the flags of that name.
[[nodiscard]] std::vector<std::string> with_verb(std::vector<std::string> arguments);

/// The mistakes in `arguments`, one message each, with suggestions.
[[nodiscard]] std::vector<std::string> mistakes(const CLI::App& app, const CLI::ParseError& error,
                                                const std::vector<std::string>& arguments);

}  // namespace trainyard::cli
