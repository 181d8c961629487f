// Words that have their place: printing, environment, clocks of tests, unfinished work.
#pragma once

#include <string>
#include <vector>

#include "source_file.h"

namespace trainyard::layers {

/// Words of code (never of comments or literals) that stand where they may not.
[[nodiscard]] std::vector<Finding> misplaced_words(const SourceFile& file);
/// Marks of unfinished work, in comments and literals too.
[[nodiscard]] std::vector<Finding> unfinished_work(const SourceFile& file);
/// Headers without `#pragma once`.
[[nodiscard]] std::vector<Finding> unguarded_headers(const SourceFile& file);
/// Sources that the CMakeLists.txt of no folder above them names. `lists` are the CMakeLists.txt
/// files, paths from the root of the project.
[[nodiscard]] std::vector<Finding> unlisted_sources(const std::vector<SourceFile>& files,
                                                    const std::vector<SourceFile>& lists);

}  // namespace trainyard::layers
