// An event as --log json prints it.
#pragma once

#include <string>

#include "formats/json.h"

namespace trainyard {

/// One line without its line feed.
[[nodiscard]] inline std::string event_line(const Json& event) {
  std::string line = json_line(event);
  line.pop_back();
  return line;
}

}  // namespace trainyard
