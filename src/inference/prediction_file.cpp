#include "inference/prediction_file.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "data/sets/numpy_array.h"
#include "inference/prediction_lines.h"

namespace trainyard {

std::optional<PredictionFormat> prediction_format(const std::filesystem::path& file) {
  const std::string ending = lower_case(file.extension().string());
  if (ending == ".csv") return PredictionFormat::csv;
  if (ending == ".json") return PredictionFormat::json;
  if (ending == ".npy") return PredictionFormat::npy;
  return std::nullopt;
}

PredictionFile::PredictionFile(PredictionFormat format, PredictionForm form, std::int64_t top)
    : format_(format), form_(std::move(form)), top_(top) {}

void PredictionFile::add(const PredictionInput& input, std::span<const float> row,
                         const Prediction& prediction) {
  ++rows_;
  if (format_ == PredictionFormat::npy) {
    std::ranges::copy(prediction_values(row, form_), std::back_inserter(values_));
    return;
  }
  const bool csv = format_ == PredictionFormat::csv;
  std::string line = prediction_line(csv ? PredictionStyle::csv : PredictionStyle::json, form_,
                                     input, prediction, top_);
  if (!csv && rows_ > 1) line = "," + line;
  lines_ += line;
}

std::string PredictionFile::contents() const {
  switch (format_) {
    case PredictionFormat::csv:
      return prediction_header(PredictionStyle::csv, form_, top_) + lines_;
    case PredictionFormat::json:
      return "[\n" + lines_ + "]\n";
    case PredictionFormat::npy:
      break;
  }
  return numpy_file(values_, static_cast<std::int64_t>(rows_));
}

}  // namespace trainyard
