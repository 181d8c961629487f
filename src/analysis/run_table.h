// `train compare`: runs as rows of one table, with what differs between their configs and what they
// reached. And `train diff`: what differs between two runs, their resolved configs and what else
// determines their results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/recorded_run.h"
#include "config/node.h"
#include "formats/json.h"

namespace trainyard {

/// A measured column of metrics.csv ("val_loss") over the epochs of a run.
struct Measured {
  std::optional<double> last;
  std::optional<double> best;  // the lowest of a loss or an error, else the highest
};

/// What a row stands for that has the means of several runs. Deviations are those of a sample,
/// sqrt(sum of squares / (n - 1)); empty for one run.
struct RunGroup {
  std::vector<std::string> runs;      // the runs of the means, one for each seed
  std::vector<std::string> seeds;     // theirs
  std::vector<std::string> left_out;  // runs that have not completed
  std::optional<double> best;         // deviation of RunTableRow::best
  std::vector<Measured> measured;     // deviations of RunTableRow::measured
};

struct RunTableRow {
  std::string run;                     // path of its folder; of a group, of its best run
  std::string state;                   // as in RecordedRun
  std::optional<int> exit_code;        // as in RecordedRun
  std::optional<std::int64_t> epoch;   // finished epochs
  std::optional<std::int64_t> epochs;  // the config's
  std::optional<BestValue> best;       // by the run's own metric
  std::optional<double> elapsed_s;     // over all resumes
  std::optional<double> images_per_s;  // speed in the last epoch
  std::vector<Measured> measured;      // values of RunTable::measured
  std::vector<std::string> values;     // values of RunTable::keys
  std::optional<RunGroup> group;       // the row has means
};

struct RunTable {
  /// Columns: loss, accuracy, val_loss, val_accuracy, then further ones that a run has.
  std::vector<std::string> measured;
  std::vector<std::string> keys;  // keys of configs, and of facts (analysis/result_facts.h)
  std::vector<RunTableRow> rows;
  bool grouped = false;  // each row is a group
};

/// The runs in their order. `keys`: the columns of config keys, as those of a sweep's grid
/// ("optimizer.sgd.lr"); empty: those whose values differ,
/// first the ones that --set or a resume changed in a run, otherwise in the order of the config,
/// without the number of threads; then facts that differ.
[[nodiscard]] RunTable tabulate(std::span<const RecordedRun> runs,
                                std::vector<std::string> keys = {});

/// The metric of the best value in all rows; "" if they differ or none has a value.
[[nodiscard]] std::string common_metric(const RunTable& table);
/// The row with the best value, if all have one metric; the first of equal ones.
[[nodiscard]] std::optional<std::size_t> best_row(const RunTable& table);
/// Sorts the rows, the best first by a measured value, else the smallest; equal ones keep their
/// order and rows without a number are last. `column`: best, epoch, time, images_per_s, a measured
/// one, that with best_, a key, or its end ("lr"). Throws Error{command_line} with the known ones
/// for any other.
void sort_rows(RunTable& table, const std::string& column);
/// "train --config runs/lr/0002/config.yaml": trains the run of a folder once more, with its
/// --init and its ranks.
[[nodiscard]] std::string repeat_command(const fs::path& folder);

/// For people: how far each run is, the best value by its own metric, the last ones, and at most
/// `most_keys` keys, long values cut; a line says so if there are more. Lines fit `width` columns
/// of a terminal, 0: they may be of any length. The best row has a star, and a line says how to
/// repeat it.
[[nodiscard]] std::string run_table_text(const RunTable& table, int width = 0,
                                         std::size_t most_keys = 6);
/// One line per run: run, state, exit_code, epoch, epochs, best_metric, best, best_epoch,
/// elapsed_s, images_per_s, then last_ and best_ of each measured column, then the keys. Groups:
/// the keys, seeds (their number), left_out, best_metric, best and best_deviation, elapsed_s, then
/// last_ and best_ of each measured column, each followed by its deviation. What is not known is
/// empty.
[[nodiscard]] std::string run_table_csv(const RunTable& table);
/// {"keys": [...], "runs": [{...}], "best": {"run", "command"}}: the same values; "config" of a run
/// has the keys. Groups: {"by": [...], "groups": [{...}], "best": ...}, where values are {"mean",
/// "deviation"}.
[[nodiscard]] Json run_table_json(const RunTable& table);

// `train compare --by KEY`: runs that differ in their seed, as one row.

/// A row for each combination of values of the keys `by`, with the means over its seeds of the runs
/// that have completed. The later of two runs with one seed counts. `warn` gets a line for such
/// runs, and for a group whose runs differ in more than the seed. Throws Error{command_line} for a
/// key that no run has.
[[nodiscard]] RunTable group_runs(std::span<const RecordedRun> runs,
                                  const std::vector<std::string>& by,
                                  const std::function<void(const std::string&)>& warn);

/// The keys and values: of the configs, without the number of threads, on which no result depends,
/// then the facts that both runs record. Throws Error{data} for a run whose config cannot be read.
[[nodiscard]] std::vector<config::Difference> run_differences(const RecordedRun& before,
                                                              const RecordedRun& after);

/// For people: a line per key, values in full; or a sentence that there are none.
[[nodiscard]] std::string differences_text(const std::vector<config::Difference>& differences);
/// {"key": {"before": ..., "after": ...}}; null where a run does not have the key.
[[nodiscard]] Json differences_json(const std::vector<config::Difference>& differences);

}  // namespace trainyard
