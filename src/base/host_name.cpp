#include "base/host_name.h"

#include <unistd.h>

#include <array>
#include <fstream>

#include "base/text.h"

namespace trainyard {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    return std::string(trimmed(line.substr(colon + 1)));
  }
  return "";
}

}  // namespace trainyard
