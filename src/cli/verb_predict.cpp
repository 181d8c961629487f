// `train predict`: the classes of images, texts or rows.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/start_flags.h"
#include "cli/verbs.h"
#include "inference/prediction.h"
#include "inference/prediction_inputs.h"
#include "inference/prediction_rows.h"

namespace trainyard::cli {
namespace {

/// In ranks that this program started, whose standard input is empty: a file with what was read
/// from that of the program.
constexpr const char* kInputVariable = "TRAINYARD_INPUT";
constexpr std::uint64_t kMostInputBytes = std::uint64_t{1} << 30;

struct PredictFlags {
  StoredFlags stored;
  NamedInputs inputs;
  std::int64_t top = 3;
  std::string output;  // --output; "": none
  std::string layer;   // --layer; "": the last one
  ViewSet views = ViewSet::none;
  bool csv = false, json = false;
  [[nodiscard]] PredictionStyle style() const {
    return csv ? PredictionStyle::csv : json ? PredictionStyle::json : PredictionStyle::text;
  }
  [[nodiscard]] bool for_programs() const { return csv || json; }
  [[nodiscard]] bool reads_standard_input() const {
    return std::ranges::find(inputs.paths, "-") != inputs.paths.end();
  }
};

std::string all_of_standard_input() {
  std::string text;
  std::array<char, 1 << 16> piece;
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), stdin)) {
    text.append(piece.data(), count);
    if (text.size() <= kMostInputBytes) continue;
    throw data_error("standard input has more than " + memory_text(kMostInputBytes) +
                     "; give the inputs in parts");
  }
  return text;
}

/// Standard input for ranks: a file, removed with the object.
class InputForRanks {
 public:
  void keep(const std::string& text) {
    folder_.emplace(Disk(), fs::temp_directory_path());
    const fs::path path = folder_->path() / "input.txt";
    Disk().replace_file(path, text);
    setenv(kInputVariable, path.c_str(), 1);
  }

 private:
  std::optional<ScratchFolder> folder_;
};

/// Found by rank 0, the same on all ranks: names and texts of the inputs.
std::vector<PredictionInput> inputs_of(const PredictFlags& flags, StoredWork& rank,
                                       const SamplesRecord& samples) {
  std::string joined_inputs;
  if (rank.speaks()) {
    NamedInputs named = flags.inputs;
    const std::string file = variable(kInputVariable);
    if (flags.reads_standard_input()) {
      named.standard_input = file.empty() ? all_of_standard_input()
                                          : read_text(file, ErrorKind::data, kMostInputBytes);
    }
    const std::optional<ColumnRows> found = column_rows(rank.stored);
    const ColumnRows* const rows = found ? &*found : nullptr;
    for (const PredictionInput& input :
         reads_texts(samples) ? text_inputs(named, rows) : image_inputs(named, rows)) {
      joined_inputs += input.name + '\0' + input.text + '\0' + input.fault + '\0';
    }
  }
  const std::vector<std::string> words = split(rank.ranks.from_first(joined_inputs), '\0');
  std::vector<PredictionInput> inputs;
  for (std::size_t i = 0; i + 2 < words.size(); i += 3) {
    inputs.push_back({words[i], words[i + 1], words[i + 2]});
  }
  return inputs;
}

/// The inputs that can be predicted, and why others cannot; of files of rows on every rank by
/// itself, which reads them all.
PredictionRows opened_inputs(const PredictFlags& flags, StoredWork& rank,
                             const SamplesRecord& samples) {
  if (reads_rows(rank.stored, samples, flags.inputs)) {
    return open_rows(rank.stored, samples, flags.inputs);
  }
  PredictionRows opened{.inputs = inputs_of(flags, rank, samples)};
  opened.faults = take_bad_inputs(rank.stored, samples, opened.inputs);
  return opened;
}

void print_rate(std::size_t inputs, double seconds, const std::string& noun, Messages& messages) {
  const std::string what = noun + "s";
  const auto count = static_cast<std::int64_t>(inputs);
  messages.note(with_separators(count) + " " + plural(count, noun) + " in " +
                fixed_text(seconds, 2) +
                " s: " + fixed_text(static_cast<double>(inputs) / std::max(seconds, 1e-9), 1) +
                " " + what + "/s");
}

/// On the rank that speaks: prints predictions, writes them to a file, and prints errors instead of
/// those that could not be made.
class PredictionPrinter {
 public:
  PredictionPrinter(const PredictFlags& flags, PredictionForm form, Messages& messages, bool writes)
      : flags_(flags), form_(std::move(form)), messages_(messages) {
    if (!writes || flags.output.empty()) return;
    const auto format = prediction_format(flags.output);
    if (!format) {
      refuse_command("--output: '" + flags.output +
                     "' does not end in .csv, .json or .npy; name a file of one of these formats");
    }
    place_ = place_for("--output", flags.output);
    file_.emplace(*format, form_, flags.top);
  }

  void begin() const {
    cli::print(prediction_header(flags_.style(), form_, flags_.top), flags_.for_programs());
  }
  /// The outputs of the next inputs; `faults` are by their indices.
  void print(std::span<const float> rows, const std::vector<PredictionInput>& inputs,
             const std::map<std::int64_t, std::string>& faults) {
    const auto width = static_cast<std::size_t>(form_.width);
    for (std::size_t i = 0; i < rows.size(); i += width, ++done_) {
      const auto fault = faults.find(static_cast<std::int64_t>(done_));
      if (fault != faults.end()) {
        fail(fault->second);
        continue;
      }
      const Prediction prediction = prediction_of(rows.subspan(i, width), form_, flags_.top);
      const std::string line =
          prediction_line(flags_.style(), form_, inputs[done_], prediction, flags_.top);
      cli::print(line, flags_.for_programs());
      if (file_) file_->add(inputs[done_], rows.subspan(i, width), prediction);
    }
    std::fflush(stdout);
  }
  /// Writes the file of --output.
  void finish() const {
    if (file_) Disk().write_output(place_, file_->contents());
  }
  void fail(const std::string& fault) const {
    messages_.fail(fault, static_cast<int>(ErrorKind::data));
  }

 private:
  const PredictFlags& flags_;
  const PredictionForm form_;
  Messages& messages_;
  std::size_t done_ = 0;
  std::string place_;
  std::optional<PredictionFile> file_ = {};
};

/// Throws if some of all inputs could not be predicted.
void require_all(std::size_t bad, std::size_t all) {
  if (bad == 0) return;
  throw data_error(std::to_string(bad) + " of " + std::to_string(all) +
                   " inputs could not be predicted, for the reasons above");
}

void predict_on_rank(const PredictFlags& flags, StoredWork& rank, Messages& messages) {
  const SamplesRecord samples = samples_of(rank.stored, rank.opening);
  const PredictionForm form = flags.layer.empty() ? prediction_form(rank.stored, samples)
                                                  : layer_form(rank.stored, flags.layer);
  PredictionPrinter printer(flags, form, messages, rank.speaks());
  PredictionRows opened = opened_inputs(flags, rank, samples);
  const std::vector<PredictionInput>& inputs = opened.inputs;
  const std::vector<std::string>& bad = opened.faults;
  const std::size_t all = inputs.size() + bad.size();
  if (rank.speaks()) {
    for (const std::string& fault : bad) printer.fail(fault);
  }
  // One rank's verdict: of several the first to throw would be taken for the one that failed.
  const auto judge = [&](std::size_t failed) {
    if (rank.speaks()) require_all(failed, all);
  };
  if (inputs.empty()) return judge(bad.size());
  // Only now: the other ranks wait here for the engines of rank 0, and for nothing else.
  SessionDevice device = inference_device(rank.stored, rank.device, rank.ranks);
  const bool of_rows = opened.set != nullptr;
  const InferenceData data = of_rows ? data_of_rows(rank.stored, samples, std::move(opened.set))
                                     : open_inputs(rank.stored, samples, inputs, rank.opening);
  const double began = rank.ranks.clock().seconds();
  if (rank.speaks()) printer.begin();
  predict_stored(rank.stored, device, rank.ranks, data,
                 {.batch = flags.stored.batch, .layer = flags.layer, .views = flags.views},
                 [&](std::span<const float> rows) {
                   if (rank.speaks()) printer.print(rows, inputs, data.faults->found());
                 });
  const std::size_t failed = bad.size() + data.faults->found().size();
  if (rank.speaks()) {
    printer.finish();
    const char* const noun = of_rows ? "row" : reads_texts(samples) ? "text" : "image";
    print_rate(all - failed, rank.ranks.clock().seconds() - began, noun, messages);
  }
  judge(failed);
}

int predict(const PredictFlags& flags, const Context& context) {
  InputForRanks input;
  return with_stored_model(
      flags.stored, context,
      [&](StoredWork& rank) { predict_on_rank(flags, rank, context.messages); },
      [&] {
        if (flags.reads_standard_input()) input.keep(all_of_standard_input());
      });
}

}  // namespace

void declare_predict(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<PredictFlags>();  // shared with the action, which outlives parsing
  add_stored_flags(app, flags->stored, context);
  app.add_option(
         "inputs", flags->inputs.paths,
         "images, folders, .txt files with a path or text per line, - for standard input, or "
         "files like the run's: .csv, .tsv, .npz, .npy, .safetensors")
      ->type_name("INPUT...");
  app.add_option("--text", flags->inputs.texts, "a text (repeatable)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  add_count(app, "--top-k", flags->top, "classes of each prediction", 1, 1'000'000)->type_name("K");
  auto* const csv = app.add_flag("--csv", flags->csv, "a CSV table with a header");
  app.add_flag("--json", flags->json, "JSON lines")->excludes(csv);
  app.add_option("--layer", flags->layer, "print this layer's outputs ('train summary' has names)")
      ->type_name("NAME")
      ->excludes(add_tta(app, flags->views));
  app.add_option("--output", flags->output,
                 "write the predictions to this file too: .csv, .json or .npy")
      ->type_name("FILE");
  action = [flags, context] { return predict(*flags, context); };
}

}  // namespace trainyard::cli
