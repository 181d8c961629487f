#include "run/prompt.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "data/text/text_units.h"

namespace trainyard {
namespace {

constexpr const char* kFlag = "--prompt";
constexpr std::size_t kMostListed = 10;

bool makes_lower_case(const RunConfig& run) {
  const config::Node* const key = run.settled.find("data")->find("train")->find("lower_case");
  return key != nullptr && key->boolean;
}

std::vector<std::string> unknown_units(const std::string& text, const Vocabulary& vocabulary) {
  std::vector<std::string> units;
  for_each_unit(text, vocabulary.unit(), kFlag, [&](std::string_view one) {
    if (vocabulary.find(one) != vocabulary.unknown()) return;
    if (std::ranges::find(units, one) == units.end()) units.emplace_back(one);
  });
  return units;
}

}  // namespace

Prompt read_prompt(const std::string& text, const Vocabulary& vocabulary, const RunConfig& run) {
  const std::string read = makes_lower_case(run) ? lower_case(text) : text;
  try {
    if (vocabulary.unit() != TextUnit::bytes) require_utf8(read, kFlag, "");
    Prompt prompt{.text = text, .tokens = tokens_of_text(read, vocabulary, kFlag), .unknown = {}};
    if (vocabulary.unknown()) prompt.unknown = unknown_units(read, vocabulary);
    return prompt;
  } catch (const Error& error) {
    throw Error(ErrorKind::command_line, error.what());
  }
}

std::string unknown_warning(const Prompt& prompt) {
  if (prompt.unknown.empty()) return "";
  std::string listed;
  for (const std::string& unit : prompt.unknown) {
    if (&unit == &prompt.unknown.front() + kMostListed) {
      listed += " and " + std::to_string(prompt.unknown.size() - kMostListed) + " more";
      break;
    }
    listed += (listed.empty() ? "" : ", ") + json_quoted(shortened(unit));
  }
  return std::string(kFlag) + ": the run's vocabulary lacks " + listed +
         "; the model reads each as unknown";
}

}  // namespace trainyard
