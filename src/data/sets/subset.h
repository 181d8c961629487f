// Some samples of a data set, and the division of one into a training and a validation part.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/sets/dataset.h"

namespace trainyard {

/// The samples `indices` of `set`, in this order. They are copied if `set` holds them in memory,
/// else read from it.
[[nodiscard]] DatasetPtr subset(std::unique_ptr<const Dataset> set,
                                std::vector<std::int64_t> indices);

/// A share of a set's samples for validation.
struct Divided {
  double fraction = 0;  // in (0, 1)
  std::uint64_t seed = 0;
  Division by = Division::by_name;
};

/// The samples of a part, in ascending order.
///
/// By name: of each class floor(samples * fraction + 1/2) are for validation, but never all of
/// them: those with the smallest XXH3-128 of the text "SEED\nNAME", NAME being sample_name(), ties
/// by index. A sample that is added or removed moves at most one other.
///
/// By index: the samples are sorted by class, within a class by the 64-bit keys
/// random4(seed, RandomStream::order, 0, 9, index), ties by index; sample i of that order is for
/// validation if floor((i + 1) * fraction) > floor(i * fraction).
///
/// Throws Error{config} if a part is empty.
[[nodiscard]] std::vector<std::int64_t> part_of(const Dataset& set, const Divided& how, Part part);

/// A source that opens a part of what `whole` opens: by that source's own rule
/// (DatasetSource::open_part), else by part_of() with the seed and division of Opening. `fraction`
/// is that of the validation part.
[[nodiscard]] std::shared_ptr<const DatasetSource> part_source(
    std::shared_ptr<const DatasetSource> whole, double fraction, Part part);

}  // namespace trainyard
