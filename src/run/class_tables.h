// Tables per class: of a run's validation split at its end, and of `train eval`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sets/dataset.h"
#include "report/class_table.h"
#include "run/run_folder.h"

namespace trainyard {

/// What the outputs for a split make of its classes.
struct ClassTables {
  std::vector<std::string> names;  // of the classes
  ConfusionMatrix matrix;
  std::vector<ClassRow> rows;
  std::vector<Mistake> mistakes;
};

/// Of the predictions that `outputs`, [set.size(), width], make; with width 1 a value above
/// `threshold` predicts class 1. A threshold of 0 belongs to logits, another one to probabilities.
/// Samples labelled `ignored` are not counted.
[[nodiscard]] ClassTables class_tables(const Dataset& set, std::span<const float> outputs,
                                       double threshold, std::optional<std::int64_t> ignored);

/// A whole file.
struct TextFile {
  std::string name, text;
};
/// classes.csv, confusion.csv and mistakes.csv, with the files of `set`, which the tables are of.
[[nodiscard]] std::vector<TextFile> csv_files(const ClassTables& tables, const Dataset& set);

/// Writes them into the folder `eval` of a run. Throws Error{disk}.
void write_class_tables(const RunFolder& folder, const ClassTables& tables, const Dataset& set);

}  // namespace trainyard
