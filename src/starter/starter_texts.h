// The texts of the starter files, with @WORDS@ to be filled in.
#pragma once

#include <string_view>

#include "starter/starter_data.h"

namespace trainyard {

struct StarterTexts {
  std::string_view config;
  std::string_view network;
};

/// Words: @name@, @path@, @split@ (of pictures: what is validated on), @batch@, @classes@,
/// @characters@.
[[nodiscard]] StarterTexts starter_texts(StarterKind kind);

}  // namespace trainyard
