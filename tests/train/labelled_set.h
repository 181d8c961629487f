// Samples with chosen labels.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "data/sets/dataset.h"

namespace trainyard::test {

/// Images [3, 9, 7] of four classes, the same for the same number; sample i has number and label
/// `samples[i]`.
class LabelledSet final : public Dataset {
 public:
  struct Sample {
    std::int64_t number = 0;
    std::int32_t label = 0;
  };
  explicit LabelledSet(std::vector<Sample> samples) : samples_(std::move(samples)) {}

  [[nodiscard]] std::int64_t size() const override { return std::ssize(samples_); }
  [[nodiscard]] Shape image_shape() const override { return {3, 9, 7}; }
  [[nodiscard]] std::int64_t classes() const override { return 4; }
  void read(std::int64_t index, float* image) const override {
    const auto number = static_cast<double>(at(index).number);
    for (int i = 0; i < 3 * 9 * 7; ++i) {
      image[i] = static_cast<float>(std::sin(0.37 * i + 1.3 * number));
    }
  }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override { return at(index).label; }
  [[nodiscard]] std::string fingerprint() const override { return "labelled"; }

 private:
  [[nodiscard]] const Sample& at(std::int64_t index) const {
    return samples_[static_cast<std::size_t>(index)];
  }
  std::vector<Sample> samples_;
};

}  // namespace trainyard::test
