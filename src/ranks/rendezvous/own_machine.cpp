#include "ranks/rendezvous/own_machine.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace trainyard {

std::string own_machine() {
  std::string machine;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine);
  for (const char* const part : {"/proc/self/ns/pid", "/proc/self/ns/net"}) {
    std::error_code failed;
    const std::filesystem::path name = std::filesystem::read_symlink(part, failed);
    if (failed || machine.empty()) return {};
    machine += " " + name.string();
  }
  return machine;
}

}  // namespace trainyard
