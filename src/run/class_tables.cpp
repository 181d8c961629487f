#include "run/class_tables.h"

#include <algorithm>
#include <utility>

namespace trainyard {

ClassTables class_tables(const Dataset& set, std::span<const float> outputs, double threshold,
                         std::optional<std::int64_t> ignored) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(set.size()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const std::int32_t label = set.label(i);
    labels[static_cast<std::size_t>(i)] = label == ignored ? -1 : label;
  }
  const SplitOutputs split{.rows = outputs,
                           .labels = labels,
                           .classes = std::max<std::int64_t>(set.classes(), 2),
                           .threshold = threshold,
                           .logits = threshold == 0};
  ConfusionMatrix matrix(split);
  std::vector<ClassRow> rows = class_rows(split, matrix);
  return {.names = set.class_names(),
          .matrix = std::move(matrix),
          .rows = std::move(rows),
          .mistakes = most_confident_mistakes(split)};
}

std::vector<TextFile> csv_files(const ClassTables& tables, const Dataset& set) {
  std::vector<std::string> files;
  for (const Mistake& mistake : tables.mistakes) files.push_back(set.file(mistake.sample));
  std::erase(files, "");  // all of them, if samples have no files
  return {{"classes.csv", classes_csv(tables.rows, tables.names)},
          {"confusion.csv", confusion_csv(tables.matrix, tables.names)},
          {"mistakes.csv", mistakes_csv(tables.mistakes, tables.names, files)}};
}

void write_class_tables(const RunFolder& folder, const ClassTables& tables, const Dataset& set) {
  static_cast<void>(folder.subfolder("eval"));
  for (const TextFile& file : csv_files(tables, set)) folder.write("eval/" + file.name, file.text);
}

}  // namespace trainyard
