// Predictions as lines of text, CSV or JSON, and as a file: CSV, JSON or numpy's .npy.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/prediction.h"
#include "inference/prediction_inputs.h"

namespace trainyard {

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
[[nodiscard]] std::optional<PredictionFormat> prediction_format(const std::filesystem::path& file);

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
