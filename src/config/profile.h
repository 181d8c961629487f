// The names of profiles.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace trainyard::config {

[[nodiscard]] std::span<const Word<Profile>> words(Profile);
[[nodiscard]] std::string_view name_of(Profile profile);
/// The profile of this name, if there is one.
[[nodiscard]] std::optional<Profile> profile_named(std::string_view name);
[[nodiscard]] std::vector<std::string> profile_names();

}  // namespace trainyard::config
