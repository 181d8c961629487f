// Predictions as lines of text, CSV or JSON.
#pragma once

#include <string>

#include "inference/prediction.h"
#include "inference/prediction_inputs.h"

namespace trainyard {

enum class PredictionStyle { text, csv, json };

/// What precedes the lines: the header of the CSV table, `input,class,probability` and, for each
/// further one of `top` classes, `class_2,probability_2`; of a model of values `input,value_1`. ""
/// for other styles.
[[nodiscard]] std::string prediction_header(PredictionStyle style, const PredictionForm& form,
                                            std::int64_t top);

/// One line: "cat.png: cat 0.9812, dog 0.0101", a row of CSV, or {"input": ..., "class": ...,
/// "probability": ..., "top": [{"class": ..., "probability": ...}]}, of a model of values {"input":
/// ..., "values": [...]}. A prediction that is none, because an output is NaN, has the class "none"
/// (null in JSON).
[[nodiscard]] std::string prediction_line(PredictionStyle style, const PredictionForm& form,
                                          const PredictionInput& input,
                                          const Prediction& prediction, std::int64_t top);

}  // namespace trainyard
