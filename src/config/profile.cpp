#include "config/profile.h"

#include <algorithm>
#include <array>

namespace trainyard::config {

std::span<const Word<Profile>> words(Profile) {
  static constexpr std::array list{
      Word<Profile>{Profile::keras2, "keras2"}, Word<Profile>{Profile::torch, "torch"},
      Word<Profile>{Profile::mxnet, "mxnet"}, Word<Profile>{Profile::caffe, "caffe"}};
  return list;
}

std::string_view name_of(Profile profile) {
  return words(profile)[static_cast<std::size_t>(profile)].word;
}

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
