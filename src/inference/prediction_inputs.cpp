#include "inference/prediction_inputs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/faults.h"
#include "base/read_file.h"
#include "base/text.h"
#include "config/near_file.h"
#include "data/sets/file_walk.h"
#include "data/sets/image_index.h"
#include "data/sets/image_set.h"
#include "data/text/text_units.h"
#include "inference/prediction_rows.h"
#include "inference/source_options.h"
#include "inference/text_tokens.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

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

[[noreturn]] void refuse_input(const std::string& what) {
  throw Error(ErrorKind::command_line, what);
}

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

std::unique_ptr<Dataset> images_of(const RunConfig& run, const SamplesRecord& samples,
                                   const std::vector<PredictionInput>& inputs,
                                   const Opening& opening) {
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
