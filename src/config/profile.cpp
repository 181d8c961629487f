#include "config/profile.h"

namespace trainyard::config {

std::string_view name_of(Profile profile) { return word_of(profile); }

std::optional<Profile> profile_named(std::string_view name) {
  for (const Word<Profile>& word : words(Profile{})) {
    if (word.word == name) return word.value;
  }
  return std::nullopt;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const Word<Profile>& word : words(Profile{})) names.emplace_back(word.word);
  return names;
}

}  // namespace trainyard::config
