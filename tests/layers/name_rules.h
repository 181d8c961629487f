// One type for each name: two definitions of one name in a program are undefined behaviour (C++20,
// basic.def.odr), which neither compiler nor linker reports if no file includes both.
#pragma once

#include <vector>

#include "source_file.h"

namespace trainyard::layers {

/// Types that an earlier header of the list defines too, at namespace scope or in a type, by their
/// qualified name. (A class that a template specialises has one name.)
[[nodiscard]] std::vector<Finding> types_of_one_name(const std::vector<SourceFile>& files);

}  // namespace trainyard::layers
