#include "inference/prediction_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "data/sets/numpy_array.h"
#include "formats/json.h"
#include "report/csv_file.h"

namespace trainyard {
namespace {

constexpr int kDecimals = 6;  // of a probability in CSV, as in mistakes.csv

std::int64_t columns_of(const PredictionForm& form, std::int64_t top) {
  return std::min(top, std::ssize(form.names));
}

const std::string& name_in(const PredictionForm& form, const PredictedClass& predicted) {
  return form.names[static_cast<std::size_t>(predicted.index)];
}

std::string text_line(const PredictionForm& form, const PredictionInput& input,
                      const Prediction& prediction) {
  std::string text = (input.text == input.name ? shortened(input.name) : input.name) + ": ";
  std::vector<std::string> parts;
  for (const PredictedClass& predicted : prediction.classes) {
    parts.push_back(name_in(form, predicted) + " " + fixed_text(predicted.probability, 4));
  }
  const bool named = !form.target.name.empty();
  const std::vector<std::string> names = named ? value_names(form) : std::vector<std::string>();
  for (std::size_t i = 0; i < prediction.values.size(); ++i) {
    const float value = prediction.values[i];
    const bool marks = !form.target.words.empty();
    parts.push_back((named ? names[i] + " " : "") +
                    (marks ? fixed_text(value, 4) : number_text(value)));
  }
  if (parts.empty()) parts.emplace_back("none");
  return text + joined(parts) + "\n";
}

std::string csv_line(const PredictionForm& form, const PredictionInput& input,
                     const Prediction& prediction, std::int64_t top) {
  CsvRow row;
  row.add_text(input.name);
  for (const PredictedClass& predicted : prediction.classes) {
    row.add_text(name_in(form, predicted)).add_rounded(predicted.probability, kDecimals);
  }
  for (const float value : prediction.values) row.add(number_text(value));
  if (prediction.classes.empty() && !form.names.empty()) {
    for (std::int64_t i = 0; i < columns_of(form, top); ++i) {
      row.add(i == 0 ? "none" : "").add(std::optional<double>());
    }
  }
  return row.text();
}

Json json_of(const PredictionForm& form, const PredictedClass& predicted) {
  return {{"class", name_in(form, predicted)}, {"probability", predicted.probability}};
}

/// By their names, or a list if they have none.
Json json_of_values(const PredictionForm& form, const std::vector<float>& values) {
  const bool named = !form.target.name.empty();
  const std::vector<std::string> names = value_names(form);
  Json json = named ? Json::object() : Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Json value = number_or_null(static_cast<double>(values[i]));
    if (named) {
      json[names[i]] = value;
    } else {
      json.push_back(value);
    }
  }
  return json;
}

std::string json_line_of(const PredictionForm& form, const PredictionInput& input,
                         const Prediction& prediction) {
  Json json{{"input", input.name}};
  if (form.names.empty()) {
    json["values"] = json_of_values(form, prediction.values);
    return json_line(json);
  }
  Json top = Json::array();
  for (const PredictedClass& predicted : prediction.classes)
    top.push_back(json_of(form, predicted));
  json.update(top.empty() ? Json{{"class", nullptr}, {"probability", nullptr}} : top[0]);
  json["top"] = top;
  return json_line(json);
}

}  // namespace

std::string prediction_header(PredictionStyle style, const PredictionForm& form, std::int64_t top) {
  if (style != PredictionStyle::csv) return "";
  CsvRow header;
  header.add_text("input");
  if (form.names.empty()) {
    for (const std::string& name : value_names(form)) header.add_text(name);
  }
  for (std::int64_t i = 1; i <= columns_of(form, top); ++i) {
    const std::string number = i == 1 ? "" : "_" + std::to_string(i);
    header.add_text("class" + number).add_text("probability" + number);
  }
  return header.text();
}

std::string prediction_line(PredictionStyle style, const PredictionForm& form,
                            const PredictionInput& input, const Prediction& prediction,
                            std::int64_t top) {
  switch (style) {
    case PredictionStyle::csv:
      return csv_line(form, input, prediction, top);
    case PredictionStyle::json:
      return json_line_of(form, input, prediction);
    case PredictionStyle::text:
      break;
  }
  return text_line(form, input, prediction);
}

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
