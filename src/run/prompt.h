// The text that a model of tokens is asked to continue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sets/vocabulary.h"
#include "run/config/run_config.h"

namespace trainyard {

struct Prompt {
  std::string text;  // "": none
  std::vector<std::int32_t> tokens;
  std::vector<std::string> unknown;  // units that the vocabulary lacks, each once, in their order
};

/// The prompt as the tokens that the training split of `run` would make of it. Throws
/// Error{command_line} if it is not UTF-8, or lacks a token and the vocabulary has none for what is
/// unknown.
[[nodiscard]] Prompt read_prompt(const std::string& text, const Vocabulary& vocabulary,
                                 const RunConfig& run);

/// "--prompt: the run's vocabulary lacks ...", or "" if all tokens are known.
[[nodiscard]] std::string unknown_warning(const Prompt& prompt);

}  // namespace trainyard
