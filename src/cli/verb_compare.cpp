// `train compare` and `train diff`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/run_difference.h"
#include "analysis/run_table.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/recorded_runs.h"
#include "cli/verbs.h"

namespace trainyard::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> runs;
  std::vector<std::string> keys;
  std::string csv;
  bool json = false;
};

int compare(const CompareFlags& flags, const Context& context) {
  const std::string csv = place_for("--csv", flags.csv);
  const RunTable table = tabulate(recorded_runs(flags.runs, context.messages), flags.keys);
  if (!csv.empty()) Disk().write_output(csv, run_table_csv(table));
  const std::string text = flags.json ? json_line(run_table_json(table)) : run_table_text(table);
  print(text, flags.json);
  return 0;
}

struct DiffFlags {
  std::string before, after;
  bool json = false;
};

/// A single run of an argument.
RecordedRun read_run(const std::string& name) {
  const std::vector<std::filesystem::path> folders = find_runs(std::vector<std::string>{name});
  if (folders.size() > 1) {
    throw Error(ErrorKind::command_line, "'" + name + "' has " + std::to_string(folders.size()) +
                                             " runs; name one, such as '" +
                                             folders.back().string() + "'");
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
  add_output(app, "--csv", flags->csv, "write the table, with every column, to this file");
  app.add_flag("--json", flags->json, "as JSON");
  action = [flags, context] { return compare(*flags, context); };
}

void declare_diff(CLI::App& app, const Context&, Action& action) {
  auto flags = std::make_shared<DiffFlags>();  // shared with the action, which outlives parsing
  app.add_option("before", flags->before, "run folder")->required()->type_name("RUN");
  app.add_option("after", flags->after, "the run folder to compare it with")
      ->required()
      ->type_name("RUN");
  app.add_flag("--json", flags->json, "as JSON");
  action = [flags] { return diff(*flags); };
}

}  // namespace trainyard::cli
