// The predictions of a stored model: `train predict`, as lines of text, CSV or JSON, and as a file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "inference/inference_session.h"
#include "inference/prediction_inputs.h"
#include "inference/views.h"

namespace trainyard {

/// What the network's output for a sample says.
struct PredictedClass {
  std::int64_t index = 0;
  double probability = 0;
};
struct Prediction {
  /// The classes with the largest outputs, the largest first, equal ones by index; empty if an
  /// output is NaN, or the model predicts no classes.
  std::vector<PredictedClass> classes;
  std::vector<float> values;  // prediction_values(), if the model predicts no classes
};

/// How a model's outputs are read.
struct PredictionForm {
  std::vector<std::string> names;     // names of the classes; empty: the model predicts values
  SampleField target = {.name = ""};  // target of values, with a mean or words; name "": without
  double threshold = 0;               // a single output above it predicts class 1
  bool logits = true;                 // see SplitOutputs
  bool softmax = false;               // true for logits that are of no classes: a softmax
  std::int64_t width = 1;             // outputs of a sample
};

/// Throws Error{config} for a network that predicts at several positions, or several outputs that
/// are no classes and no values.
[[nodiscard]] PredictionForm prediction_form(const StoredModel& stored,
                                             const SamplesRecord& samples);
/// How the elements of a layer's output are read: as values. Throws as output_of_layer().
[[nodiscard]] PredictionForm layer_form(const StoredModel& stored, const std::string& layer);
/// Prediction of a row of outputs, [width]: at most `top` classes.
[[nodiscard]] Prediction prediction_of(std::span<const float> row, const PredictionForm& form,
                                       std::int64_t top);

/// The names of a model's values: the words of its target, the target's name if it is one number,
/// that and a number from 1 for each of several; "value_1"... of targets without a mean or words.
[[nodiscard]] std::vector<std::string> value_names(const PredictionForm& form);
/// The probability of each class, of a single output of both; of a model of values these, after the
/// sigmoid or softmax that its loss includes, in the target's own units: as in predictions.csv.
[[nodiscard]] std::vector<float> prediction_values(std::span<const float> row,
                                                   const PredictionForm& form);

/// Receives rows of outputs, [n, width], in the order of the samples.
using TakeRows = std::function<void(std::span<const float> rows)>;

struct PredictionRequest {
  std::int64_t batch = 0;         // batch size; 0: the run's on one rank
  std::string layer = "";         // layer whose outputs are asked for; "": the last one
  ViewSet views = ViewSet::none;  // over which outputs are averaged
};

/// Runs the network on every sample of `data`, by all ranks together. Each calls `take` as the
/// outputs arrive; they do not depend on the number of ranks. By then every rank knows the faults
/// of their samples. Throws as InferenceSession.
void predict_stored(const StoredModel& stored, SessionDevice& device, RankGroup& ranks,
                    const InferenceData& data, const PredictionRequest& request,
                    const TakeRows& take);

enum class PredictionStyle { text, csv, json };

/// What precedes the lines: the header of the CSV table, `input,class,probability` and, for each
/// further one of `top` classes, `class_2,probability_2`; of a model of values `input` and
/// value_names(). "" for other styles.
[[nodiscard]] std::string prediction_header(PredictionStyle style, const PredictionForm& form,
                                            std::int64_t top);

/// One line: "cat.png: cat 0.9812, dog 0.0101", a row of CSV, or {"input": ..., "class": ...,
/// "probability": ..., "top": [{"class": ..., "probability": ...}]}, of a model of values {"input":
/// ..., "values": [...]}, of a target with a mean or words by value_names(): {"price": 210.5}. A
/// prediction that is none, because an output is NaN, has the class "none" (null in JSON).
[[nodiscard]] std::string prediction_line(PredictionStyle style, const PredictionForm& form,
                                          const PredictionInput& input,
                                          const Prediction& prediction, std::int64_t top);

enum class PredictionFormat { csv, json, npy };

/// By the ending of a file's name; none for another ending.
[[nodiscard]] std::optional<PredictionFormat> prediction_format(const fs::path& file);

/// Collects the predictions: a CSV table and a JSON array of what prediction_line() has, or
/// prediction_values() of each input as float32 [n, values] in .npy.
class PredictionFile {
 public:
  PredictionFile(PredictionFormat format, PredictionForm form, std::int64_t top);
  void add(const PredictionInput& input, std::span<const float> row, const Prediction& prediction);
  /// The contents of the file.
  [[nodiscard]] std::string contents() const;

 private:
  PredictionFormat format_;
  PredictionForm form_;
  std::int64_t top_;
  std::size_t rows_ = 0;
  std::string lines_;
  std::vector<float> values_;
};

}  // namespace trainyard
