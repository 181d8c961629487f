#include "inference/prediction_inputs.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/faults.h"
#include "base/filesystem.h"
#include "base/read_file.h"
#include "base/text.h"
#include "config/file_path.h"
#include "data/sets/dataset.h"
#include "data/sets/file_walk.h"
#include "data/sets/image_index.h"
#include "data/sets/image_set.h"
#include "data/sets/token_set.h"
#include "data/text/imdb.h"
#include "data/text/keras_words.h"
#include "data/text/text_units.h"
#include "data/text/text_windows.h"
#include "data/text/texts.h"
#include "inference/prediction_rows.h"
#include "inference/source_options.h"

namespace trainyard {
namespace {

using Tokens = std::vector<std::int32_t>;

const Vocabulary& vocabulary_of(const StoredModel& stored) {
  if (stored.vocabulary) return *stored.vocabulary;
  throw checkpoint_error(
      "'" + stored.run.string() +
      "' has no vocabulary.json, so that it is not known which tokens texts are made of");
}

/// As open_imdb().
class ReviewTokens {
 public:
  explicit ReviewTokens(const StoredModel& stored)
      : options_(source_options<ImdbOptions>(stored.config)), index_(imdb_word_index(options_)) {
    if (keras_token_texts(index_, options_.vocabulary) == vocabulary_of(stored).words()) return;
    throw checkpoint_error("the word index below '" + options_.root.string() +
                           "' is not that of the run's vocabulary.json; restore the one that the "
                           "run was trained with");
  }
  [[nodiscard]] std::int64_t steps() const { return options_.length; }
  [[nodiscard]] Tokens tokens(const PredictionInput& input) const {
    return keras_tokens(input.text, index_, options_.vocabulary);
  }

 private:
  ImdbOptions options_;
  WordIndex index_;
};

/// As open_text(), for the token after a text.
class WindowTokens {
 public:
  explicit WindowTokens(const StoredModel& stored)
      : options_(source_options<TextOptions>(stored.config)), vocabulary_(vocabulary_of(stored)) {}
  [[nodiscard]] std::int64_t steps() const { return options_.length; }
  [[nodiscard]] Tokens tokens(const PredictionInput& input) const {
    const std::string text = options_.lower_case ? lower_case(input.text) : input.text;
    const std::string name = "'" + shortened(input.name) + "'";
    Tokens tokens = tokens_of_text(text, vocabulary_, name);
    if (std::ssize(tokens) >= options_.length) return tokens;
    throw data_error(name + ": has " + std::to_string(tokens.size()) +
                     " tokens, but the network reads the last " + std::to_string(options_.length));
  }

 private:
  TextOptions options_;
  const Vocabulary& vocabulary_;
};

/// As open_texts().
class RowTokens {
 public:
  explicit RowTokens(const StoredModel& stored)
      : steps_(source_options<TextsOptions>(stored.config).length),
        vocabulary_(vocabulary_of(stored)) {}
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] Tokens tokens(const PredictionInput& input) const {
    return tokens_of_row(input.text, vocabulary_);
  }

 private:
  std::int64_t steps_;
  const Vocabulary& vocabulary_;
};

template <class Source>
TokenSamples samples_by(const Source& source, const std::vector<PredictionInput>& inputs) {
  const auto steps = static_cast<std::size_t>(source.steps());
  TokenSamples samples{.steps = source.steps(), .tokens = {}, .labels = {}};
  samples.tokens.resize(inputs.size() * steps);
  samples.labels.resize(inputs.size(), 0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tokens tokens = source.tokens(inputs[i]);
    const std::int64_t kept =
        fit_at_front(tokens, std::span(samples.tokens).subspan(i * steps, steps));
    samples.lengths.push_back(static_cast<std::int32_t>(kept));
  }
  return samples;
}

/// The texts as samples of the run: of source imdb each a whole text, cut and padded at the front;
/// of source text its last tokens, of which there must be enough. Throws as open_inputs().
DatasetPtr tokens_of_inputs(const StoredModel& stored, const SamplesRecord& samples,
                            const std::vector<PredictionInput>& inputs) {
  const std::string source = source_name(stored.config);
  TokenSamples made;
  if (source == "imdb") {
    made = samples_by(ReviewTokens(stored), inputs);
  } else if (source == "texts") {
    made = samples_by(RowTokens(stored), inputs);
  } else if (source == "text") {
    made = samples_by(WindowTokens(stored), inputs);
  } else {
    throw config_error("source '" + source +
                       "' of the run makes its samples of no texts; predict reads those of sources "
                       "texts, imdb and text");
  }
  const Vocabulary& own = vocabulary_of(stored);
  made.vocabulary = copy_of(own);
  made.classes = samples.classes;
  made.class_names = samples.class_names;
  return token_set_of(std::move(made));
}

constexpr std::uint64_t kMostListBytes = std::uint64_t{1} << 30;

/// The lines that are not blank, without the ends that other systems write.
std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string& line : split(text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    if (!trimmed(line).empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// The wanted files below a folder, by their paths.
std::vector<PredictionInput> inputs_below(const fs::path& folder, const Wanted& wanted) {
  std::vector<PredictionInput> inputs;
  for (FoundFile& file : files_below(folder, Links::follow, wanted)) {
    inputs.push_back({(folder / file.name).string(), "", std::move(file.fault)});
  }
  std::ranges::sort(inputs, {}, &PredictionInput::name);
  return inputs;
}

[[noreturn]] void refuse_input(const std::string& what) { refuse_command(what); }

/// What a path of the command line is.
enum class PathKind { standard_input, folder, file };
PathKind kind_of(const std::string& path) {
  if (path == "-") return PathKind::standard_input;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return PathKind::folder;
  if (fs::exists(path, ignored)) return PathKind::file;
  refuse_input("no file or folder '" + path + "' to predict" + config::near_file(path));
}

std::string list_in(const std::string& path) {
  return read_text(path, ErrorKind::data, kMostListBytes);
}

/// The image of a list's line or cell.
std::string image_in_list(const std::string& list, const std::string& image) {
  std::error_code ignored;
  const bool here = fs::path(image).is_absolute() || fs::exists(image, ignored);
  return here ? image : (fs::path(list).parent_path() / image).string();
}

void add_images_of_list(const std::string& path, std::vector<PredictionInput>& inputs) {
  for (const std::string& line : lines_in(list_in(path))) {
    inputs.push_back({image_in_list(path, line), ""});
  }
}

void add_images_of_rows(const std::string& path, const ColumnRows& rows,
                        std::vector<PredictionInput>& inputs) {
  for (PredictionInput& input : rows_of_column(path, rows)) {
    if (input.fault.empty()) input = {image_in_list(path, input.text), ""};
    inputs.push_back(std::move(input));
  }
}

void add_images(const std::string& path, const NamedInputs& named, const ColumnRows* rows,
                std::vector<PredictionInput>& inputs) {
  switch (kind_of(path)) {
    case PathKind::standard_input:
      for (std::string& line : lines_in(named.standard_input.value_or(""))) {
        inputs.push_back({std::move(line), ""});
      }
      return;
    case PathKind::folder:
      std::ranges::move(inputs_below(path, is_image_name), std::back_inserter(inputs));
      return;
    case PathKind::file:
      break;
  }
  if (is_image_name(path)) {
    inputs.push_back({path, ""});
  } else if (rows != nullptr && is_table_name(path)) {
    add_images_of_rows(path, *rows, inputs);
  } else if (fs::path(path).extension() == ".txt") {
    add_images_of_list(path, inputs);
  } else {
    refuse_input("'" + path + "' is neither an image (" + kImageNames +
                 ") nor a list of them, a .txt file with a "
                 "path a line");
  }
}

void add_texts(const std::string& path, const NamedInputs& named, const ColumnRows* rows,
               std::vector<PredictionInput>& inputs) {
  const auto add_lines = [&](const std::string& text, const std::string& name) {
    require_utf8(text, name, "; convert it to UTF-8");
    for (const std::string& line : lines_in(text)) inputs.push_back({line, line});
  };
  switch (kind_of(path)) {
    case PathKind::standard_input:
      return add_lines(named.standard_input.value_or(""), "standard input");
    case PathKind::file:
      if (rows == nullptr || !is_table_name(path)) return add_lines(list_in(path), path);
      std::ranges::move(rows_of_column(path, *rows), std::back_inserter(inputs));
      return;
    case PathKind::folder:
      break;
  }
  const auto is_text = [](const fs::path& file) { return file.extension() == ".txt"; };
  for (PredictionInput& input : inputs_below(path, is_text)) {
    if (input.fault.empty()) {
      input.fault = fault_in([&] {
        input.text = list_in(input.name);
        require_utf8(input.text, input.name, "; convert it to UTF-8");
      });
    }
    inputs.push_back(std::move(input));
  }
}

/// Refuses an empty list.
std::vector<PredictionInput> some(std::vector<PredictionInput> inputs, const std::string& what) {
  if (inputs.empty()) refuse_input("there is nothing to predict: expected " + what);
  return inputs;
}

DatasetPtr images_of(const RunConfig& run, const SamplesRecord& samples,
                     const std::vector<PredictionInput>& inputs, const Opening& opening) {
  ImageOptions options = image_options(run, samples);
  options.memory_mib = 0;  // each is decoded once, when its batch is made
  ImageFiles files{
      .folder = "", .files = {}, .classes = samples.classes, .class_names = samples.class_names};
  for (const PredictionInput& input : inputs) files.files.push_back({input.name, 0});
  return open_images(std::move(files), options,
                     {.seed = opening.seed, .warn = opening.warn, .faults = opening.faults});
}

}  // namespace

bool reads_texts(const SamplesRecord& samples) { return samples.image == kNoImage; }

std::vector<PredictionInput> image_inputs(const NamedInputs& named, const ColumnRows* rows) {
  std::vector<PredictionInput> inputs;
  if (!named.texts.empty()) refuse_input("--text: the model of this run reads images");
  for (const std::string& path : named.paths) add_images(path, named, rows, inputs);
  return some(std::move(inputs),
              "images, a folder of them, a .txt file with a path a line, or - for such lines on "
              "standard input");
}

std::vector<PredictionInput> text_inputs(const NamedInputs& named, const ColumnRows* rows) {
  std::vector<PredictionInput> inputs;
  for (const std::string& path : named.paths) add_texts(path, named, rows, inputs);
  for (const std::string& text : named.texts) {
    require_utf8(text, "--text", "");
    inputs.push_back({text, text});
  }
  return some(std::move(inputs),
              "--text WORDS, a file with a text a line, a folder of .txt files, or - for lines on "
              "standard input" +
                  std::string(rows != nullptr ? "; or a .csv or .tsv file of rows" : ""));
}

std::vector<std::string> take_bad_inputs(const StoredModel& stored, const SamplesRecord& samples,
                                         std::vector<PredictionInput>& inputs) {
  std::vector<std::string> names, faults;
  for (const PredictionInput& input : inputs) {
    if (input.fault.empty()) names.push_back(input.name);
  }
  std::vector<ImageRecord> records(names.size());
  if (!reads_texts(samples)) {
    const ImageOptions options = image_options(stored.config, samples);
    records = indexed_images("", names, {.max_pixels = options.max_pixels}, {});
  }
  std::size_t next = 0;
  std::erase_if(inputs, [&](const PredictionInput& input) {
    const std::string fault = input.fault.empty() ? records[next++].fault : input.fault;
    if (!fault.empty()) faults.push_back(fault);
    return !fault.empty();
  });
  return faults;
}

InferenceData open_inputs(const StoredModel& stored, const SamplesRecord& samples,
                          const std::vector<PredictionInput>& inputs, const Opening& opening) {
  Opening of_inputs = opening;
  of_inputs.faults = std::make_shared<Faults>();
  InferenceData data{.set = reads_texts(samples)
                                ? tokens_of_inputs(stored, samples, inputs)
                                : images_of(stored.config, samples, inputs, of_inputs),
                     .pipeline = nullptr,
                     .faults = of_inputs.faults};
  data.pipeline = pipeline_for(stored, samples, *data.set);
  return data;
}

}  // namespace trainyard
