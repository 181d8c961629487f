#include "inference/prediction.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/sets/numpy_array.h"
#include "formats/json.h"
#include "model/batch_outputs.h"
#include "ops/loss.h"
#include "report/class_table.h"
#include "report/csv_file.h"
#include "run/config/layer_overrides.h"
#include "run/config/losses.h"
#include "run/session/session_model.h"

namespace trainyard {

namespace {

constexpr Operation kPredicting{"prediction"};

/// The loss of the network's output; null: it has none.
std::shared_ptr<const LossOp> loss_of_output(const RunConfig& run) {
  for (const auto& loss : losses_of(run)) {
    if (loss->values().output.empty()) return loss;
  }
  return nullptr;
}

/// Names of as many classes as there are outputs; a text's tokens name themselves.
std::vector<std::string> names_for(const StoredModel& stored, const SamplesRecord& samples) {
  std::vector<std::string> names = samples.class_names;
  const bool tokens = stored.vocabulary && stored.vocabulary->size() == samples.classes;
  if (names.empty() && tokens) names = stored.vocabulary->words();
  for (std::int64_t c = std::ssize(names); c < std::max<std::int64_t>(samples.classes, 2); ++c) {
    names.push_back(std::to_string(c));
  }
  return names;
}

/// Batches of a feeder with every field that a model reads; those that the samples lack are zeros.
class WholeBatches {
 public:
  WholeBatches(const TrainingGraph& graph, const Feeder& feeder) : fed_(feeder.options().fields) {
    for (const GraphField& field : graph.fields) {
      const Value& value = graph.graph.values[field.value];
      names_.push_back(field.name);
      zeros_.emplace_back(static_cast<std::size_t>(value.shape.elements()) * size_of(value.type));
    }
  }
  /// Valid until the next batch. Labels mean nothing: no row is valid, so that nothing counts them.
  [[nodiscard]] Batch of(const Batch& fed) const {
    Batch whole = fed;
    whole.valid = 0;
    whole.fields.clear();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = std::ranges::find(fed_, names_[i]);
      whole.fields.push_back(found == fed_.end()
                                 ? std::span<const std::byte>(zeros_[i])
                                 : fed.fields[static_cast<std::size_t>(found - fed_.begin())]);
    }
    return whole;
  }

 private:
  std::vector<std::string> fed_, names_;
  std::vector<std::vector<std::byte>> zeros_;
};

/// The ranks' values one after another, on every rank.
std::vector<float> of_all_ranks(RankGroup& ranks, const std::vector<float>& own) {
  std::vector<float> all(own.size() * static_cast<std::size_t>(ranks.size()));
  ranks.communicator().all_gather(ranks.queue(), own.data(), own.size() * sizeof(float),
                                  all.data());
  ranks.queue().wait();
  return all;
}

/// Tells every rank the faults that the others have found.
class FaultsOfRanks {
 public:
  FaultsOfRanks(RankGroup& ranks, Faults* faults) : ranks_(ranks), faults_(faults) {}
  void share() {
    if (faults_ == nullptr || ranks_.size() == 1) return;
    std::string news;
    for (const auto& [index, message] : faults_->found()) {
      if (told_.insert(index).second) news += std::to_string(index) + '\0' + message + '\0';
    }
    for (const std::string& texts : ranks_.gather(news)) {
      const std::vector<std::string> parts = split(texts, '\0');
      for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        const std::int64_t index = std::stoll(parts[i]);
        told_.insert(index);
        faults_->note(index, parts[i + 1]);
      }
    }
  }

 private:
  RankGroup& ranks_;
  Faults* faults_;
  std::set<std::int64_t> told_;
};

constexpr int kDecimals = 6;  // decimals of a probability in CSV, as in mistakes.csv

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
    Json& value = named ? json[names[i]] : json.emplace_back();
    value = number_or_null(static_cast<double>(values[i]));
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

PredictionForm prediction_form(const StoredModel& stored, const SamplesRecord& samples) {
  const RunConfig& run = stored.config;
  const Graph network = build_network(run, 1);
  const Shape output = network.values[network.output].shape;
  if (output.elements() != output.c()) {
    throw config_error(run.network.where.text() +
                       ": predict is for networks with one prediction for each sample, but the "
                       "output of this one is " +
                       output.text() + "; what a model of text goes on with: train generate");
  }
  PredictionForm form{.names = {},
                      .threshold = usual_threshold(run),
                      .logits = usual_threshold(run) == 0,
                      .width = output.c()};
  const auto loss = loss_of_output(run);
  form.softmax = loss && loss->type() == kCrossEntropy;
  const bool of_label = loss && loss->values().target == kLabelField;
  const bool decides = output.c() == samples.classes || (output.c() == 1 && samples.classes <= 2);
  if (of_label && decides) form.names = names_for(stored, samples);
  for (const SampleField& field : samples.fields) {
    if (loss && field.name == loss->values().target) form.target = field;
  }
  return form;
}

PredictionForm layer_form(const StoredModel& stored, const std::string& layer) {
  const Graph network = build_network(stored.config, 1);
  const ValueId value = output_of_layer(stored.config, network, layer);
  return {.names = {}, .logits = false, .width = network.values[value].shape.elements()};
}

Prediction prediction_of(std::span<const float> row, const PredictionForm& form, std::int64_t top) {
  if (form.names.empty()) return {.classes = {}, .values = prediction_values(row, form)};
  const bool nan = std::ranges::any_of(row, [](float value) { return value != value; });
  if (nan) return {};
  const auto classes = static_cast<std::int64_t>(std::max<std::size_t>(row.size(), 2));
  std::vector<std::int64_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  if (row.size() == 1) {
    if (row[0] > form.threshold) std::ranges::reverse(order);
  } else {
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int64_t index) {
      return row[static_cast<std::size_t>(index)];
    });
  }
  order.resize(static_cast<std::size_t>(std::min(top, classes)));
  Prediction prediction;
  for (const std::int64_t index : order) {
    prediction.classes.push_back({index, probability_of(row, index, form.logits)});
  }
  return prediction;
}

std::vector<std::string> value_names(const PredictionForm& form) {
  const SampleField& target = form.target;
  if (!target.words.empty()) return target.words;
  if (!target.mean.empty() && form.width == 1) return {target.name};
  const std::string stem = target.mean.empty() ? "value" : target.name;
  std::vector<std::string> names;
  for (std::int64_t i = 1; i <= form.width; ++i) names.push_back(stem + "_" + std::to_string(i));
  return names;
}

std::vector<float> prediction_values(std::span<const float> row, const PredictionForm& form) {
  const bool classes = !form.names.empty();
  if (!classes && !form.logits) {
    std::vector<float> own(row.begin(), row.end());
    form.target.restore_units(own);
    return own;
  }
  std::vector<float> values(classes ? std::max<std::size_t>(row.size(), 2) : row.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    values[i] =
        static_cast<float>(classes || form.softmax ? probability_of(row, index, form.logits)
                                                   : probability_of(row.subspan(i, 1), 1, true));
  }
  return values;
}

void predict_stored(const StoredModel& stored, SessionDevice& device, RankGroup& ranks,
                    const InferenceData& data, const PredictionRequest& request,
                    const TakeRows& take) {
  require_images(request.views, data.pipeline->output_shape());
  InferenceOptions options{.batch = request.batch, .unlabelled = true, .layer = request.layer};
  options.batch = std::min(batch_of(stored, options), data.set->size());
  InferenceSession session(stored, device, ranks, data, options);
  Model& model = session.model();
  BatchOutputs outputs(model, device.threads);
  const WholeBatches batches(model.graph(), session.feeder());
  const auto width = static_cast<std::size_t>(outputs.shape().elements() / options.batch);
  std::size_t left = static_cast<std::size_t>(data.set->size()) * width;
  FaultsOfRanks faults(ranks, data.faults.get());
  ViewMaker maker(data.pipeline->output_shape());
  ViewMean mean(request.views);
  const auto take_pass = [&] {
    const std::optional<std::vector<float>> whole = mean.add(outputs.take());
    if (!whole) return;
    const std::vector<float> all = of_all_ranks(ranks, *whole);
    faults.share();
    const std::size_t count = std::min(left, all.size());  // the rest is padding
    take(std::span(all).first(count));
    left -= count;
  };
  session.feeder().start(0);
  std::int64_t passes = 0;
  for (std::int64_t step = 0; step < session.feeder().batches_per_epoch(); ++step) {
    ranks.progress(step + 1, kPredicting);
    const Batch& batch = session.feeder().next();
    for (const View& view : views_of(request.views)) {
      model.load(batches.of(maker.view(batch, view)));
      model.evaluate();
      outputs.send();
      if (passes++ > 0) take_pass();  // the one before, while the device works on this one
    }
  }
  take_pass();
}

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

std::optional<PredictionFormat> prediction_format(const fs::path& file) {
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
