// `train compare` and `train diff`.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "analysis/run_table.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/checks.h"
#include "cli/console.h"
#include "cli/named_run.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace trainyard::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> runs;
  std::vector<std::string> keys, by;
  std::string sort, csv;
  bool json = false;
};

RunTable table_of(const CompareFlags& flags, Messages& messages) {
  const std::vector<RecordedRun> runs = recorded_runs(flags.runs, messages);
  const auto warn = [&](const std::string& text) { messages.warn(text); };
  RunTable table = flags.by.empty() ? tabulate(runs, flags.keys) : group_runs(runs, flags.by, warn);
  if (!flags.sort.empty()) sort_rows(table, flags.sort);
  return table;
}

int compare(const CompareFlags& flags, const Context& context) {
  const std::string csv = place_for("--csv", flags.csv);
  const RunTable table = table_of(flags, context.messages);
  if (!csv.empty()) Disk().write_output(csv, run_table_csv(table));
  const std::string text =
      flags.json ? json_line(run_table_json(table)) : run_table_text(table, output_columns());
  print(text, flags.json);
  return 0;
}

struct DiffFlags {
  std::string before, after;
  bool json = false;
};

/// A single run of an argument.
RecordedRun read_run(const std::string& name) {
  const std::vector<fs::path> folders = find_runs(std::vector<std::string>{name});
  if (folders.size() > 1) {
    refuse_command("'" + name + "' has " + std::to_string(folders.size()) +
                   " runs; name one, such as '" + folders.back().string() + "'");
  }
  return read_recorded_run(folders.front(), SystemClock());
}

int diff(const DiffFlags& flags) {
  const auto differences = run_differences(read_run(flags.before), read_run(flags.after));
  const std::string text =
      flags.json ? json_line(differences_json(differences)) : differences_text(differences);
  print(text, flags.json);
  return 0;
}

}  // namespace

void declare_compare(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<CompareFlags>();  // shared with the action, which outlives parsing
  app.add_option("runs", flags->runs,
                 "run folders, folders with runs in them, or patterns in quotes: 'runs/lr-*'")
      ->required()
      ->type_name("RUN...");
  app.add_option(
         "--keys", flags->keys,
         "what to show: keys of configs, optimizer.sgd.lr,batch.total, or of runs, run.ranks "
         "(default: those that differ)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_option("--by", flags->by,
                 "a row for each value of these keys, with the mean and the deviation of the runs "
                 "that differ in 'seed': optimizer.sgd.lr")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes("--keys")
      ->type_name("LIST");
  app.add_option("--sort", flags->sort,
                 "sort by a column, the best first: best, val_loss, time, a key or its end")
      ->type_name("COLUMN");
  add_output(app, "--csv", flags->csv, "write the table, with every column, to this file");
  app.add_flag("--json", flags->json, "as JSON");
  action = [flags, context] { return compare(*flags, context); };
}

void declare_diff(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<DiffFlags>();  // shared with the action, which outlives parsing
  add_run(app, "before", flags->before, "run folder, or runs/NAME for the newest run there",
          context)
      ->required();
  add_run(app, "after", flags->after, "the run to compare it with", context)->required();
  app.add_flag("--json", flags->json, "as JSON");
  action = [flags] { return diff(*flags); };
}

}  // namespace trainyard::cli
