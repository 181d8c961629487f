// Small tar archives, made in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::testing {

struct TarMember {
  std::string name;
  std::string contents = {};
  char type = '0';  // '0': a file, '5': a folder, '2': a symbolic link
};

/// An archive in the format ustar, with the two blocks of zeros that end one.
[[nodiscard]] std::string tar_archive(const std::vector<TarMember>& members);

}  // namespace trainyard::testing
