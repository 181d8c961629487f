// Checks of a YAML file before parsing: encoding, control characters, tabs.
#pragma once

#include <string>
#include <string_view>

#include "config/diagnostics.h"

namespace trainyard::config {

/// Reports bytes that are not UTF-8, control characters (yaml-cpp takes 0x04 for the end of the
/// file), tabs outside comments, and directives. Columns count bytes, from 1.
void check_text(std::string_view text, const std::string& name, Diagnostics& diagnostics);

}  // namespace trainyard::config
