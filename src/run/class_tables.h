// Tables per class in the folder of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "data/dataset.h"
#include "run/run_folder.h"

namespace trainyard {

/// Writes eval/classes.csv, eval/confusion.csv and eval/mistakes.csv of the predictions that
/// `outputs`, [set.size(), width], make; with width 1 a value above `threshold` predicts class 1. A
/// threshold of 0 belongs to logits, another one to probabilities. Samples
/// labelled `ignored` are not counted. Throws Error{disk}.
void write_class_tables(const RunFolder& folder, const Dataset& set, std::span<const float> outputs,
                        double threshold, std::optional<std::int64_t> ignored);

}  // namespace trainyard
