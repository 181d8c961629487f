#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "export/onnx_export.h"

namespace trainyard {
namespace {

using Dims = std::vector<std::int64_t>;
using Floats = std::vector<float>;

class Front {
 public:
  Front(OnnxModel& model, OnnxNames& names)
      : model_(model), names_(names), shape_(model.inputs[0].dims), value_(model.inputs[0].name) {}

  [[nodiscard]] const std::string& value() const { return value_; }

  void apply(const PixelTransform& step) {
    switch (step.kind) {
      case PixelTransform::Kind::scale:
        return apply("Mul", constant({}, {step.factor}));
      case PixelTransform::Kind::subtract_image:
        return apply("Sub", constant(shape_, values_of(step)));
      case PixelTransform::Kind::subtract_channel:
        return apply("Sub", constant({step.count, 1, 1}, values_of(step)));
      case PixelTransform::Kind::divide_channel:
        return apply("Div", constant({step.count, 1, 1}, values_of(step)));
      case PixelTransform::Kind::subtract_mean:
        return apply("Sub", mean(value_));
      case PixelTransform::Kind::divide_deviation:
        return apply("Div", deviation());
    }
  }

  /// The product of each sample, as one row, and the matrix.
  void whiten(std::span<const float> matrix) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape_) elements *= extent;
    Dims whole = shape_;
    whole.insert(whole.begin(), 0);  // 0: as the input has it
    const std::string of_shape = names_.fresh("preprocess.shape");
    model_.constants[of_shape] = {{std::ssize(whole)}, std::move(whole)};
    const std::string rows = add("Flatten", {value_}, {{"axis", std::int64_t{1}}});
    const std::string by = constant({elements, elements}, Floats(matrix.begin(), matrix.end()));
    value_ = add("Reshape", {add("MatMul", {rows, by}), of_shape});
  }

 private:
  static Floats values_of(const PixelTransform& step) {
    return {step.values, step.values + step.count};
  }

  std::string constant(Dims dims, Floats values) {
    std::string name = names_.fresh("preprocess.values");
    model_.constants[name] = {std::move(dims), std::move(values)};
    return name;
  }

  std::string add(const std::string& type, std::vector<std::string> inputs,
                  OnnxAttributes attributes = {}) {
    std::string output = names_.fresh("preprocess/" + type);
    model_.nodes.push_back({.type = type,
                            .name = output,
                            .inputs = std::move(inputs),
                            .outputs = {output},
                            .attributes = std::move(attributes)});
    return output;
  }

  void apply(const std::string& type, const std::string& with) {
    value_ = add(type, {value_, with});
  }

  /// Mean over all values of a sample.
  std::string mean(const std::string& of) {
    return add("ReduceMean", {of}, {{"axes", Dims{1, 2, 3}}});
  }

  /// Deviation of the population, + 1e-7.
  std::string deviation() {
    const std::string off = add("Sub", {value_, mean(value_)});
    const std::string root = add("Sqrt", {mean(add("Mul", {off, off}))});
    return add("Add", {root, constant({}, {1e-7F})});
  }

  OnnxModel& model_;
  OnnxNames& names_;
  Dims shape_;
  std::string value_;
};

}  // namespace

OnnxPreprocessing preprocessing_of(const Pipeline& pipeline) {
  return {.steps = pipeline.pixel_transforms(), .whitening = pipeline.whitening()};
}

Json json_of(const OnnxPreprocessing& preprocessing) {
  constexpr std::array kNames{"scale",          "subtract_image", "subtract_channel",
                              "divide_channel", "subtract_mean",  "divide_deviation"};
  constexpr std::int64_t kMostValues = 16;
  Json list = Json::array();
  for (const PixelTransform& step : preprocessing.steps) {
    Json json{{"step", kNames[static_cast<std::size_t>(step.kind)]}};
    if (step.kind == PixelTransform::Kind::scale) json["factor"] = step.factor;
    if (step.count > 0 && step.count <= kMostValues) {
      json["values"] = std::vector<float>(step.values, step.values + step.count);
    }
    list.push_back(std::move(json));
  }
  if (!preprocessing.whitening.empty()) list.push_back({{"step", "whiten"}});
  return list;
}

std::string preprocessed(OnnxModel& model, OnnxNames& names,
                         const OnnxPreprocessing& preprocessing) {
  Front front(model, names);
  for (const PixelTransform& step : preprocessing.steps) front.apply(step);
  if (!preprocessing.whitening.empty()) front.whiten(preprocessing.whitening);
  return front.value();
}

}  // namespace trainyard
