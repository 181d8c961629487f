// `train compare`: runs as rows of one table, with what differs between their configs and what they
// reached.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/recorded_run.h"
#include "formats/json.h"

namespace trainyard {

/// A measured column of metrics.csv ("val_loss") over the epochs of a run.
struct Measured {
  std::optional<double> last;
  std::optional<double> best;  // the lowest of a loss or an error, else the highest
};

struct RunTableRow {
  std::string run;                     // path of its folder
  std::string state;                   // as in RecordedRun
  std::optional<int> exit_code;        // as in RecordedRun
  std::optional<std::int64_t> epoch;   // finished epochs
  std::optional<std::int64_t> epochs;  // of the config
  std::optional<BestValue> best;       // as the run judged it
  std::optional<double> elapsed_s;     // over all resumes
  std::optional<double> images_per_s;  // of the last epoch
  std::vector<Measured> measured;      // of RunTable::measured
  std::vector<std::string> values;     // of RunTable::keys
};

struct RunTable {
  /// Columns: loss, accuracy, val_loss, val_accuracy, then further ones that a run has.
  std::vector<std::string> measured;
  std::vector<std::string> keys;  // of configs, and of facts (analysis/result_facts.h)
  std::vector<RunTableRow> rows;
};

/// The runs in their order. `keys`: the columns of config keys, as those of a sweep's grid
/// ("optimizer.sgd.lr"); empty: those whose values differ,
/// first the ones that --set or a resume changed in a run, otherwise in the order of the config,
/// without the number of threads; then facts that differ.
[[nodiscard]] RunTable tabulate(std::span<const RecordedRun> runs,
                                std::vector<std::string> keys = {});

/// For people: how far each run is, the best value as it judged it, the last ones, and at most
/// `most_keys` keys, long values cut; a line says so if there are more.
[[nodiscard]] std::string run_table_text(const RunTable& table, std::size_t most_keys = 6);
/// One line per run: run, state, exit_code, epoch, epochs, best_metric, best, best_epoch,
/// elapsed_s, images_per_s, then last_ and best_ of each measured column, then the keys. What is
/// not known is empty.
[[nodiscard]] std::string run_table_csv(const RunTable& table);
/// {"keys": [...], "runs": [{...}]}: the same values; "config" of a run has the keys.
[[nodiscard]] Json run_table_json(const RunTable& table);

}  // namespace trainyard
