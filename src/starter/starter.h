// `train init`: a commented config and a network to begin with.
//
// The folder starter looks at data that exist and writes files that train on them.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/atomic_file.h"
#include "starter/starter_data.h"

namespace trainyard {

/// The two files of a starter: NAME.yaml, which names NAME_network.yaml.
struct StarterFiles {
  std::filesystem::path config;
  std::filesystem::path network;
};

/// Writes both into `folder`, which is created, with paths that are relative to it. Throws
/// Error{command_line} if one of them exists, and Error{disk}.
StarterFiles write_starter(const StarterData& data, const std::filesystem::path& folder,
                           const Disk& disk);

// The texts of the starter files, with @WORDS@ to be filled in.

struct StarterTexts {
  std::string_view config;
  std::string_view network;
};

/// The words are those of words_for() in starter.cpp.
[[nodiscard]] StarterTexts starter_texts(StarterKind kind);

}  // namespace trainyard
