// One numbering of classes for all sets of a run: that of the training split's names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sets/dataset.h"

namespace trainyard {

/// The names of classes in the order of their labels.
struct ClassNumbering {
  std::vector<std::string> names;
  std::int64_t classes = 0;  // at least as many as names
  std::string of;            // owner, for messages: "the training split"
};

/// `set` with the labels that `numbering` has for its classes' names; `set` as it is if its names
/// are the same ones, or if either has none. Classes of the numbering may be missing in `set`.
/// Throws Error{data} for samples of a class that the numbering lacks, with the nearest name;
/// `what` is `set` in this message: "the validation split".
[[nodiscard]] DatasetPtr numbered_as(DatasetPtr set, const ClassNumbering& numbering,
                                     const std::string& what);

}  // namespace trainyard
