// What `train predict` predicts: images in files, or texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/inference_session.h"

namespace trainyard {

struct ColumnRows;  // inference/prediction_rows.h

/// As the command line names them, in its order.
struct NamedInputs {
  std::vector<std::string> paths;  // "-": standard input
  std::vector<std::string> texts;  // texts of --text, after those
  std::optional<std::string> standard_input = {};
};

struct PredictionInput {
  std::string name;        // as it is printed: a path, or the text itself
  std::string text;        // for models of texts
  std::string fault = {};  // why it cannot be predicted, a message; "": nothing is known against it
};

/// Whether the run's samples are sequences of tokens, made of texts.
[[nodiscard]] bool reads_texts(const SamplesRecord& samples);

/// The images: of a folder all in it and in the folders below it, by their paths, links followed
/// (see files_below()), those with a fault too; of a .txt file
/// and of standard input one path a line, in the file's case relative to the current folder or else
/// to the file's; with `rows` of .csv and .tsv files likewise the cells of a column. Throws
/// Error{command_line} for a path that does not exist, a file of another kind, texts, and if there
/// are none; Error{data} for a file that cannot be read.
[[nodiscard]] std::vector<PredictionInput> image_inputs(const NamedInputs& named,
                                                        const ColumnRows* rows = nullptr);
/// The texts: each line of a file or of standard input that is not blank; of a folder its .txt
/// files, each one text; with `rows` of .csv and .tsv files the cells of a column; and those of
/// `texts`. Throws as image_inputs() and rows_of_column().
[[nodiscard]] std::vector<PredictionInput> text_inputs(const NamedInputs& named,
                                                       const ColumnRows* rows = nullptr);

/// Takes out the inputs that cannot be predicted, as far as names and the headers of images tell,
/// and returns their faults, in the order of the inputs.
[[nodiscard]] std::vector<std::string> take_bad_inputs(const StoredModel& stored,
                                                       const SamplesRecord& samples,
                                                       std::vector<PredictionInput>& inputs);

/// Inputs as samples of the model, with labels of 0. Texts become tokens as the run's source made
/// them. An image that cannot be decoded is a fault (InferenceData::faults). Throws Error{data} for
/// a file that is not an image, or a text that cannot be tokens;
/// Error{config} for a run whose samples are neither images nor texts with one label;
/// Error{checkpoint} if its vocabulary is missing or another one.
[[nodiscard]] InferenceData open_inputs(const StoredModel& stored, const SamplesRecord& samples,
                                        const std::vector<PredictionInput>& inputs,
                                        const Opening& opening);

}  // namespace trainyard
