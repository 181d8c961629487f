// A source of samples in the words of a command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/sets/dataset.h"

namespace trainyard::cli {

/// The source that `source=image_list file=list.csv` names, as the same keys in a run file do; a
/// word without '=' is a folder of pictures. Throws Error{command_line} and Error{config}.
[[nodiscard]] std::unique_ptr<DatasetSource> source_of(const std::vector<std::string>& words);

/// The help of such words.
inline constexpr const char* kSourceHelp =
    "a folder of pictures, or the keys of a source as in a run file: source=pack file=a.pack";

}  // namespace trainyard::cli
