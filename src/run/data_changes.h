// Whether data are those that a run was trained on.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "run/data_facts.h"

namespace trainyard {

/// The flags --changed-data and --check-data.
struct DataCheck {
  bool changed = false;    // other data are a warning, not an error
  bool all_files = false;  // every file whose hash is known is read, not only those whose time
                           // has changed
};

/// How `now` differs from what a run recorded, `before`, in words: samples, classes, files and
/// their contents, each with the first example; "" if it does not, as far as the record goes. Reads
/// the files whose contents must be compared, and completes the hashes of `now`. Throws Error{data}
/// for a file that cannot be read.
[[nodiscard]] std::string split_change(const SplitFacts& before, SplitFacts& now, bool all_files);

/// The change of each split, as lines "training split: ..."; empty: none.
[[nodiscard]] std::vector<std::string> data_changes(const DataFacts& before, DataFacts& now,
                                                    bool all_files);

/// Tells `changes`, if there are any, to `warn` if the flag allows them. Throws Error{data} with
/// them otherwise, and with `advice`: what to do besides restoring the data.
void judge_changes(std::span<const std::string> changes, const std::string& run,
                   const std::string& advice, const DataCheck& check,
                   const std::function<void(const std::string&)>& warn);

}  // namespace trainyard
