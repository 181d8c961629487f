// The texts of the starter files, with @WORDS@ to be filled in.
#pragma once

#include <string_view>

#include "starter/starter_data.h"

namespace trainyard {

struct StarterTexts {
  std::string_view config;
  std::string_view network;
};

/// The words are those of words_for() in starter.cpp.
[[nodiscard]] StarterTexts starter_texts(StarterKind kind);

}  // namespace trainyard
