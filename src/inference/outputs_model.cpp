#include "inference/outputs_model.h"

#include <algorithm>
#include <utility>

#include "config/load.h"

namespace trainyard {
namespace {

/// Samples whose images are rows of outputs; all else is that of another set.
class OutputSet final : public Dataset {
 public:
  OutputSet(const Dataset& set, std::vector<float> outputs)
      : set_(set), width_(std::ssize(outputs) / set.size()), outputs_(std::move(outputs)) {}
  [[nodiscard]] std::int64_t size() const override { return set_.size(); }
  [[nodiscard]] Shape image_shape() const override { return {width_, 1, 1}; }
  [[nodiscard]] std::int64_t classes() const override { return set_.classes(); }
  void read(std::int64_t index, float* image) const override {
    std::copy_n(outputs_.data() + index * width_, width_, image);
  }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override { return set_.label(index); }
  [[nodiscard]] std::vector<SampleField> fields() const override { return set_.fields(); }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    set_.read_field(field, index, out);
  }
  [[nodiscard]] std::vector<std::string> class_names() const override { return set_.class_names(); }
  [[nodiscard]] std::string fingerprint() const override { return set_.fingerprint(); }
  [[nodiscard]] std::string file(std::int64_t index) const override { return set_.file(index); }
  [[nodiscard]] std::int64_t origin(std::int64_t index) const override {
    return set_.origin(index);
  }

 private:
  const Dataset& set_;
  std::int64_t width_;
  std::vector<float> outputs_;
};

/// The run with a network of `width` numbers that gives these.
RunConfig run_of_outputs(RunConfig run, std::int64_t width) {
  run.network =
      config::parse_yaml("{input: [" + std::to_string(width) + "], layers: [identity]}", "outputs");
  run.freeze.items.clear();
  run.freeze_statistics.items.clear();
  run.lr_mult.entries.clear();
  run.parameters.entries.clear();
  std::erase_if(run.heads, [](const auto& head) { return !head->values().output.empty(); });
  std::erase_if(run.metrics, [](const auto& metric) { return !metric->output.empty(); });
  return run;
}

}  // namespace

OutputsModel model_of_outputs(const StoredModel& stored, const InferenceData& data,
                              std::vector<float> outputs) {
  auto set = std::make_unique<OutputSet>(*data.set, std::move(outputs));
  const Shape row = set->image_shape();
  const std::string none = encode_safetensors({}).head;
  const auto no_weights = std::as_bytes(std::span(none));
  return {.stored = {.run = stored.run,
                     .config = run_of_outputs(stored.config, row[0]),
                     .weights = {.path = stored.weights.path,
                                 .tensors = SafetensorsFile::parse(
                                     {no_weights.begin(), no_weights.end()}, "outputs")},
                     .statistics = {},
                     .vocabulary = {},
                     .samples = stored.samples},
          .data = {.set = std::move(set),
                   .pipeline = std::make_unique<Pipeline>(
                       row, std::vector<std::shared_ptr<const Augmentation>>(),
                       std::vector<std::shared_ptr<const Preprocess>>()),
                   .weights = data.weights}};
}

}  // namespace trainyard
