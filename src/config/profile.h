// The names of profiles.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace trainyard::config {

[[nodiscard]] constexpr Words<Profile> words(Profile) {
  return {"keras2", "torch", "mxnet", "caffe"};
}
[[nodiscard]] std::string_view name_of(Profile profile);
/// The profile of this name, if there is one.
[[nodiscard]] std::optional<Profile> profile_named(std::string_view name);
[[nodiscard]] std::vector<std::string> profile_names();

}  // namespace trainyard::config
