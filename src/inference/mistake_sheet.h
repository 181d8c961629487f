// The most confident mistakes of an evaluation, as pictures.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "data/images/picture.h"
#include "data/sets/dataset.h"
#include "report/mistakes.h"

namespace trainyard {

/// At most `most` of the mistakes in reading order, each sample as its source gives it over its
/// label, what was predicted instead, the probability of that, and its file's name if it has one.
/// None if there are no mistakes, or samples are no images of 1 or 3 channels with a height of more
/// than 1.
[[nodiscard]] std::optional<Picture> mistake_sheet(const Dataset& set,
                                                   std::span<const Mistake> mistakes,
                                                   std::span<const std::string> names,
                                                   std::size_t most = 40);

}  // namespace trainyard
