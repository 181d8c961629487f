// What was meant by a command line that is not understood.
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

/// What a flag that is not there may have meant: one of `flags`, or the key of a run file that
/// --set changes, with `value` ("" as VALUE), in the optimizer that `run` names. "" if nothing is
/// near. Keys are named where `flags` has --set.
[[nodiscard]] std::string meant_by(const std::string& flag, const std::string& value,
                                   std::span<const std::string> flags, const config::Node& run);

/// What is wrong with `arguments`, one message a mistake, each with what was meant.
[[nodiscard]] std::vector<std::string> mistakes(const CLI::App& app, const CLI::ParseError& error,
                                                const std::vector<std::string>& arguments);

}  // namespace trainyard::cli
