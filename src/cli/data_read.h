// `train data read`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trainyard::cli {

struct ReadFlags {
  std::vector<std::string> words;  // the source
  double seconds = 5;
  std::int64_t threads = 1;
};

/// Adds the command to `data`.
CLI::App* add_read(CLI::App& data, ReadFlags& flags);
/// Measures how fast the source is read; returns the exit code.
int read(const ReadFlags& flags);

}  // namespace trainyard::cli
