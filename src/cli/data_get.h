// `train data get`.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

class Messages;

struct GetFlags {
  std::string name;  // of the set
  std::string to;    // "": $TRAINYARD_DATA, or data
  std::string from;
};

/// Adds the command to `data`.
CLI::App* add_get(CLI::App& data, GetFlags& flags);
/// Fetches the set; returns the exit code.
int get(const GetFlags& flags, Messages& messages);

}  // namespace trainyard::cli
