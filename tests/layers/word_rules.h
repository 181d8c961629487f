// Words that are restricted to certain folders: printing, environment, clocks of tests, unfinished
// work.
#pragma once

#include <string>
#include <vector>

#include "source_file.h"

namespace trainyard::layers {

/// Words of code (not of comments or literals) in files that may not use them.
[[nodiscard]] std::vector<Finding> misplaced_words(const SourceFile& file);
/// Marks of unfinished work, in comments and literals too.
[[nodiscard]] std::vector<Finding> unfinished_work(const SourceFile& file);
/// Headers without `#pragma once`.
[[nodiscard]] std::vector<Finding> unguarded_headers(const SourceFile& file);
/// Sources that no CMakeLists.txt in their folder or above it names, by name, by pattern, or as a
/// file of its folder. `lists` are the CMakeLists.txt files, with paths from the root of the
/// project.
[[nodiscard]] std::vector<Finding> unlisted_sources(const std::vector<SourceFile>& files,
                                                    const std::vector<SourceFile>& lists);

}  // namespace trainyard::layers
