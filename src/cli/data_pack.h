// `train data pack`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trainyard::cli {

struct PackFlags {
  std::vector<std::string> words;  // the source, then the destination
  std::int64_t block = 0;
  std::int64_t seed = 0;
};

/// Adds the command to `data`.
CLI::App* add_pack(CLI::App& data, PackFlags& flags);
/// Writes the pack; returns the exit code.
int pack(const PackFlags& flags);

}  // namespace trainyard::cli
