// The line of an epoch for people.
#pragma once

#include <string>
#include <vector>

#include "report/epoch_line.h"

namespace trainyard {

/// The values of an epoch, in the order of metrics.csv.
[[nodiscard]] std::vector<NamedValue> measured_values(const EpochRow& row);

/// In the styles keras and plain. If `context.columns` are too few, "accuracy" becomes "acc", and
/// parts are left out in the order given in docs/console.md; the epoch number stays.
[[nodiscard]] std::string epoch_text(LogStyle style, const EpochRow& row,
                                     const EpochContext& context);

}  // namespace trainyard
