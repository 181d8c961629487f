#include "run/class_tables.h"

#include <algorithm>
#include <string>
#include <vector>

#include "report/class_table.h"
#include "report/mistakes.h"

namespace trainyard {

void write_class_tables(const RunFolder& folder, const Dataset& set, std::span<const float> outputs,
                        double threshold, std::optional<std::int64_t> ignored) {
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
  const ConfusionMatrix matrix(split);
  const std::vector<std::string> names = set.class_names();
  static_cast<void>(folder.subfolder("eval"));
  folder.write("eval/classes.csv", classes_csv(split, matrix, names));
  folder.write("eval/confusion.csv", confusion_csv(matrix, names));
  folder.write("eval/mistakes.csv", mistakes_csv(split, names));
}

}  // namespace trainyard
