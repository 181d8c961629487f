// Some samples of a data set, and the division of one into a training and a validation part.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace trainyard {

/// The samples `indices` of `set`, in this order. They are copied if `set` holds them in memory,
/// else read from it.
[[nodiscard]] std::unique_ptr<Dataset> subset(std::unique_ptr<const Dataset> set,
                                              std::vector<std::int64_t> indices);

/// How a set is divided. Stratified: the samples are sorted by class, within a class by the 64-bit
/// keys random4(seed, RandomStream::order, 0, 9, index), ties by index; sample i of that order is
/// for validation if floor((i + 1) * fraction) > floor(i * fraction). So floor(size * fraction)
/// samples are, and of every class its share, up to one sample. Indices are returned in ascending
/// order. Throws Error{config} if a part is empty.
[[nodiscard]] std::vector<std::int64_t> part_of(const Dataset& set, double fraction,
                                                std::uint64_t seed, Part part);

/// A source that opens a part of what `whole` opens: by that source's own rule
/// (DatasetSource::open_part), else by part_of() with the same seed. `fraction` in (0, 1) is that
/// of the validation part.
[[nodiscard]] std::shared_ptr<const DatasetSource> part_source(
    std::shared_ptr<const DatasetSource> whole, double fraction, Part part);

}  // namespace trainyard
