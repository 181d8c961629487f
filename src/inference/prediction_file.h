// Predictions as a file: CSV, JSON or numpy's .npy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/prediction.h"
#include "inference/prediction_inputs.h"

namespace trainyard {

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
