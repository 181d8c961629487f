// `train eval`: a stored model on a whole split.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/filesystem.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "cli/start_flags.h"
#include "cli/verbs.h"
#include "inference/evaluated_data.h"
#include "inference/evaluation.h"
#include "inference/evaluation_files.h"

namespace trainyard::cli {
namespace {

struct EvalFlags {
  StoredFlags stored;
  EvaluationRequest request;
  DataCheck check;
  std::string out;
  bool json = false;
};

void print_evaluation(const EvalFlags& flags, const Evaluation& evaluation,
                      const EvaluatedModel& of) {
  const std::string text =
      flags.json ? json_line(json_of(evaluation, of)) : text_of(evaluation, of);
  print(text, flags.json);
}

/// The folder of the tables, which must be writable before the work begins.
fs::path tables_folder(const EvalFlags& flags, const StoredWork& rank) {
  fs::path folder = flags.out;
  if (flags.out.empty()) {
    folder = evaluation_folder(rank.stored, flags.stored.path, flags.request.data);
    const ViewSet views = flags.request.views;
    if (views != ViewSet::none) folder /= "tta_" + std::string(config::word_of(views));
  }
  if (rank.speaks()) Disk().try_folder(folder);
  return folder;
}

void eval_on_rank(const EvalFlags& flags, StoredWork& rank) {
  EvaluationRequest request = flags.request;
  request.batch = flags.stored.batch;
  const fs::path folder = tables_folder(flags, rank);
  SessionDevice device = inference_device(rank.stored, rank.device, rank.ranks);
  const InferenceData data =
      open_evaluated(rank.stored, request.data, rank.ranks, rank.opening, flags.check);
  const Evaluation evaluation = evaluate_stored(rank.stored, device, rank.ranks, data, request);
  if (!rank.speaks()) return;
  const EvaluatedModel of{.weights = text_of(rank.stored),
                          .title = title_of(rank.stored),
                          .data = evaluated_text(rank.stored, request.data),
                          .changes = data.changes,
                          .views = request.views};
  print_evaluation(flags, evaluation, of);
  for (const std::string& fault : evaluation.faults) rank.device.warn("not a number: " + fault);
  const EvaluationFiles files{
      .folder = folder, .gnuplot = gnuplot_program(), .warn = rank.device.warn};
  const auto written = write_evaluation(files, Disk(), evaluation, of, *data.set);
  if (!flags.json) print(files.folder.string() + ": " + joined(written) + "\n");
}

}  // namespace

void declare_eval(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<EvalFlags>();  // shared with the action, which outlives parsing
  add_stored_flags(app, flags->stored, context);
  app.add_option("--data", flags->request.data,
                 "a split of the run, or a folder with a folder per class")
      ->type_name("val|train|FOLDER");
  add_tta(app, flags->request.views);
  add_data_flags(app, flags->check, "evaluate although the run's split has changed");
  add_count(app, "--top-k", flags->request.top, "k of the top-k accuracy", 1, 1'000'000)
      ->type_name("K");
  app.add_option("--out", flags->out, "folder of the tables and plots (default: RUN/eval)")
      ->type_name("FOLDER");
  app.add_flag("--json", flags->json, "the numbers as one line of JSON");
  action = [flags, context] {
    return with_stored_model(flags->stored, context,
                             [&](StoredWork& rank) { eval_on_rank(*flags, rank); });
  };
}

}  // namespace trainyard::cli
