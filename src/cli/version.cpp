#include "cli/version.h"

namespace trainyard::cli {

std::string version_text() { return "train " TRAINYARD_VERSION; }

}  // namespace trainyard::cli
