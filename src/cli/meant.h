// Suggestions for a command line that cannot be parsed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/node.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace trainyard::cli {

/// Arguments as typed: `train FILE.yaml` and `train --config x` get the verb `train`, `help` and
/// `version` become the flags of that name.
[[nodiscard]] std::vector<std::string> with_verb(std::vector<std::string> arguments);

/// The suggestion for an unknown flag: one of `flags`, or --set with the key of a run file and
/// `value` ("" as VALUE), in the optimizer that `run` names. "" if nothing is near. Keys are
/// suggested only if `flags` has --set.
[[nodiscard]] std::string meant_by(const std::string& flag, const std::string& value,
                                   std::span<const std::string> flags, const config::Node& run);

/// The mistakes in `arguments`, one message each, with suggestions.
[[nodiscard]] std::vector<std::string> mistakes(const CLI::App& app, const CLI::ParseError& error,
                                                const std::vector<std::string>& arguments);

}  // namespace trainyard::cli
