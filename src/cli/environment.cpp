#include "cli/environment.h"

#include <unistd.h>

#include <cstdlib>

#include "base/child_process.h"

namespace trainyard::cli {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** next = environ; *next != nullptr; ++next) all.emplace_back(*next);
  return all;
}

std::optional<fs::path> program_in_path(const std::string& name) {
  return find_program(name, variable("PATH"));
}

}  // namespace trainyard::cli
